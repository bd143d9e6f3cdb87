// gasnetex.h: the C entry points of teams (GX-068 to GX-073, EX-037 to EX-042, EX-087 to EX-125).
#include <algorithm>

#include "core/base/log.h"
#include "core/engine/engine.h"
#include "extended/checks/usage.h"
#include "extended/coll/algorithms/pipeline.h"
#include "extended/state/objects.h"
#include "extended/team/team.h"

using namespace pinwire;

namespace {

constexpr gex_Flags_t kQueries =
    GEX_FLAG_TM_SCRATCH_SIZE_MIN | GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED;
constexpr gex_Flags_t kScratchKinds = GEX_FLAG_TM_GLOBAL_SCRATCH | GEX_FLAG_TM_LOCAL_SCRATCH |
                                      GEX_FLAG_TM_SYMMETRIC_SCRATCH | GEX_FLAG_TM_NO_SCRATCH;

/// More than nothing, as clients expect (EX-124): collectives do without (EX-125).
constexpr size_t kScratchBytesMin = 64;

/// The same for all members (EX-134).
size_t scratch_wanted(gex_Flags_t flags) noexcept {
  const bool is_least = (flags & GEX_FLAG_TM_SCRATCH_SIZE_MIN) != 0;
  return is_least ? kScratchBytesMin : kScratchBytesWanted;
}

/// A team, not destroyed and no pair (EX-129).
void check_team(const char* call, gex_TM_t tm) noexcept {
  if (tm == GEX_TM_INVALID || is_pair(tm)) {
    fatal("%s wants a team, and was given %s (EX-129)", call,
          tm == GEX_TM_INVALID ? "GEX_TM_INVALID" : "a TM-pair");
  }
  if constexpr (kUsageChecks) {
    if (tm->member == nullptr) breach("EX-089", "%s over a team that was destroyed", call);
  }
}

void check_flags(const char* call, gex_Flags_t flags, gex_Flags_t known) noexcept {
  if ((flags & ~known) != 0) fatal("%s: unknown flags 0x%x", call, flags & ~known);
}

/// One of the `kinds` (EX-100, EX-117).
void check_scratch_kind(const char* call, gex_Flags_t flags, gex_Flags_t kinds) noexcept {
  const gex_Flags_t kind = flags & kScratchKinds;
  if (kind == 0 || (kind & (kind - 1)) != 0 || (kind & ~kinds) != 0) {
    fatal(
        "%s wants one of GEX_FLAG_TM_{SYMMETRIC,LOCAL,NO}_SCRATCH, or of gex_TM_Create "
        "GEX_FLAG_TM_GLOBAL_SCRATCH: 0x%x (EX-100, EX-117)",
        call, flags);
  }
}

bool has_scratch(gex_Flags_t flags) noexcept { return (flags & GEX_FLAG_TM_NO_SCRATCH) == 0; }

uintptr_t segment_base(const pinwire_ep& endpoint) noexcept {
  return endpoint.segment != nullptr ? reinterpret_cast<uintptr_t>(endpoint.segment->base) : 0;
}

/// The scratch memory that the client hands over (EX-102, EX-103); none if it hands over none.
gex_Memvec_t scratch_of(const char* call, const pinwire_ep& endpoint, gex_Addr_t address,
                        size_t bytes, gex_Flags_t flags) noexcept {
  if (!has_scratch(flags)) return {nullptr, 0};
  if (endpoint.segment != nullptr && endpoint.segment->kind != nullptr) {
    fatal("%s of endpoint %u, whose segment is memory of %s, wants GEX_FLAG_TM_NO_SCRATCH (EX-119)",
          call, endpoint.index, endpoint.segment->kind->device->label());
  }
  auto at = reinterpret_cast<uintptr_t>(address);
  if ((flags & GEX_FLAG_SCRATCH_SEG_OFFSET) != 0) at += segment_base(endpoint);
  if constexpr (kUsageChecks) {
    if (bytes == 0)
      breach("EX-101", "%s with 0 bytes of scratch; say GEX_FLAG_TM_NO_SCRATCH", call);
    const pinwire_segment* segment = endpoint.segment;
    if (segment != nullptr && !inside(at, bytes, segment_base(endpoint), segment->bytes)) {
      breach("EX-102", "%s: %zu bytes of scratch at 0x%llx are not in the bound segment", call,
             bytes, static_cast<unsigned long long>(at));
    }
  }
  return {reinterpret_cast<void*>(at), bytes};
}

/// EX-111 to EX-113.
std::vector<Target> targets_of(gex_TM_t parent, const gex_EP_Location_t* args, size_t count,
                               gex_Flags_t flags) {
  const bool is_jobrank = (flags & GEX_FLAG_RANK_IS_JOBRANK) != 0;
  const Rank ranks = is_jobrank ? engine.rank_count : parent->size;
  std::vector<Target> targets;
  for (size_t i = 0; i < count; ++i) {
    if (args[i].gex_rank >= ranks || args[i].gex_ep_index >= kEndpointsMax) {
      fatal("gex_TM_Create: member %zu is endpoint %u of rank %u, and there are %u ranks (EX-112)",
            i, args[i].gex_ep_index, args[i].gex_rank, ranks);
    }
    const Rank jobrank =
        is_jobrank ? args[i].gex_rank : rank_of(pinwire_target(parent, args[i].gex_rank));
    targets.push_back(target_of(jobrank, args[i].gex_ep_index));
    if (jobrank == engine.rank && args[i].gex_ep_index >= objects.endpoint_count) {
      fatal("gex_TM_Create: member %zu is endpoint %u of this process, which has %u", i,
            args[i].gex_ep_index, objects.endpoint_count.load());
    }
  }
  std::vector<Target> sorted = targets;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    fatal("gex_TM_Create: endpoint %u of jobrank %u is in args[] twice (EX-111)",
          endpoint_of(*twice), rank_of(*twice));
  }
  return targets;
}

/// The scratch memory of the members in this process, in the order of their ranks.
std::vector<gex_Memvec_t> scratch_of_local(const std::vector<Target>& targets,
                                           const gex_Addr_t* addresses, size_t bytes,
                                           gex_Flags_t flags) {
  std::vector<gex_Memvec_t> scratch;
  for (size_t rank = 0; rank < targets.size(); ++rank) {
    if (rank_of(targets[rank]) != engine.rank) continue;
    const size_t at = (flags & GEX_FLAG_TM_GLOBAL_SCRATCH) != 0  ? rank
                      : (flags & GEX_FLAG_TM_LOCAL_SCRATCH) != 0 ? scratch.size()
                                                                 : 0;
    scratch.push_back(scratch_of("gex_TM_Create", *objects.endpoints[endpoint_of(targets[rank])],
                                 has_scratch(flags) ? addresses[at] : nullptr, bytes, flags));
  }
  return scratch;
}

}  // namespace

extern "C" {

void gex_TM_SetCData(gex_TM_t tm, const void* val) { tm->client_data.set(val); }
void* gex_TM_QueryCData(gex_TM_t tm) { return tm->client_data.get(); }
gex_Client_t gex_TM_QueryClient(gex_TM_t tm) { return tm->endpoint->client; }
gex_EP_t gex_TM_QueryEP(gex_TM_t tm) { return tm->endpoint; }
gex_Flags_t gex_TM_QueryFlags(gex_TM_t tm) { return tm->flags; }
gex_Rank_t gex_TM_QueryRank(gex_TM_t tm) { return tm->rank; }
gex_Rank_t gex_TM_QuerySize(gex_TM_t tm) { return tm->size; }

gex_Rank_t gex_TM_TranslateRankToJobrank(gex_TM_t tm, gex_Rank_t rank) {
  return gex_TM_TranslateRankToEP(tm, rank, 0).gex_rank;
}

gex_Rank_t gex_TM_TranslateJobrankToRank(gex_TM_t tm, gex_Rank_t jobrank) {
  check_team("gex_TM_TranslateJobrankToRank", tm);
  check(jobrank < engine.rank_count, "a jobrank that the job has not is translated", jobrank);
  if (tm->tables == nullptr) return jobrank;
  Rank rank;
  return tm->tables->find(jobrank, rank) ? rank : GEX_RANK_INVALID;
}

gex_EP_Location_t gex_TM_TranslateRankToEP(gex_TM_t tm, gex_Rank_t rank, gex_Flags_t flags) {
  check_team("gex_TM_TranslateRankToEP", tm);
  check(rank < tm->size, "a rank that the team has not is translated", rank);
  check(flags == 0, "gex_TM_TranslateRankToEP takes no flags (EX-039)", flags);
  const Target target = pinwire_target(tm, rank);
  return {rank_of(target), static_cast<gex_EP_Index_t>(endpoint_of(target))};
}

size_t gex_TM_Split(gex_TM_t* new_tm_p, gex_TM_t parent_tm, int color, int key, void* scratch_addr,
                    size_t scratch_size, gex_Flags_t flags) {
  const ClientCall inside("gex_TM_Split");
  check_team("gex_TM_Split", parent_tm);
  check_flags("gex_TM_Split", flags,
              kQueries | GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_SCRATCH_SEG_OFFSET);
  if ((flags & kQueries) != 0) return new_tm_p != nullptr ? scratch_wanted(flags) : 0;
  gex_Memvec_t scratch{};
  if (new_tm_p != nullptr) {
    if (color < 0) fatal("gex_TM_Split: a colour is not negative: %d (GX-069)", color);
    scratch = scratch_of("gex_TM_Split", *parent_tm->endpoint, scratch_addr, scratch_size, flags);
  }
  split_team(new_tm_p, parent_tm, {color, key}, scratch, flags);
  return 0;
}

size_t gex_TM_Dup(gex_TM_t* new_tm_p, gex_TM_t orig_tm, gex_Addr_t scratch_addr, size_t scratch_len,
                  gex_Flags_t flags) {
  const ClientCall inside("gex_TM_Dup");
  check_team("gex_TM_Dup", orig_tm);
  check_flags("gex_TM_Dup", flags, kQueries | kScratchKinds | GEX_FLAG_SCRATCH_SEG_OFFSET);
  if ((flags & kQueries) != 0) return scratch_wanted(flags);
  check_scratch_kind("gex_TM_Dup", flags, kScratchKinds & ~GEX_FLAG_TM_GLOBAL_SCRATCH);
  check(new_tm_p != nullptr, "gex_TM_Dup wants to know where to write the new team (EX-099)");
  const gex_Memvec_t scratch =
      scratch_of("gex_TM_Dup", *orig_tm->endpoint, scratch_addr, scratch_len, flags);
  split_team(new_tm_p, orig_tm, {0, 0}, scratch, flags);
  return 0;
}

size_t gex_TM_Create(gex_TM_t* new_tms, size_t num_new_tms, gex_TM_t parent_tm,
                     gex_EP_Location_t* args, size_t numargs, gex_Addr_t* scratch_addrs,
                     size_t scratch_size, gex_Flags_t flags) {
  const ClientCall inside("gex_TM_Create");
  check_team("gex_TM_Create", parent_tm);
  check_flags("gex_TM_Create", flags,
              kQueries | kScratchKinds | GEX_FLAG_SCRATCH_SEG_OFFSET | GEX_FLAG_RANK_IS_JOBRANK);
  if ((flags & kQueries) != 0) return numargs != 0 ? scratch_wanted(flags) : 0;
  TeamWanted wanted;
  if (numargs != 0) {
    check_scratch_kind("gex_TM_Create", flags, kScratchKinds);
    wanted.targets = targets_of(parent_tm, args, numargs, flags);
    wanted.scratch = scratch_of_local(wanted.targets, scratch_addrs, scratch_size, flags);
    if (num_new_tms != wanted.scratch.size() || num_new_tms == 0) {
      fatal(
          "gex_TM_Create: args[] has %zu members in this process, and num_new_tms is %zu; callers "
          "that are in no team pass 0 for numargs (EX-116)",
          wanted.scratch.size(), num_new_tms);
    }
  }
  create_team(new_tms, parent_tm, wanted, flags);
  return 0;
}

int gex_TM_Destroy(gex_TM_t tm, gex_Memvec_t* scratch_p, gex_Flags_t flags) {
  const ClientCall inside("gex_TM_Destroy");
  check_team("gex_TM_Destroy", tm);
  check_flags("gex_TM_Destroy", flags, GEX_FLAG_GLOBALLY_QUIESCED | GEX_FLAG_SCRATCH_SEG_OFFSET);
  if (tm == objects.team) fatal("gex_TM_Destroy of the team of gex_Client_Init (EX-089)");
  if (!is_quiet(*tm->member)) {
    fatal("gex_TM_Destroy of a team whose collectives are not synchronised here (EX-090)");
  }
  const bool gives_back = scratch_p != nullptr && tm->scratch.gex_len != 0;
  if (gives_back) {
    *scratch_p = tm->scratch;
    if ((flags & GEX_FLAG_SCRATCH_SEG_OFFSET) != 0) {
      scratch_p->gex_addr = reinterpret_cast<void*>(
          reinterpret_cast<uintptr_t>(tm->scratch.gex_addr) - segment_base(*tm->endpoint));
    }
  }
  destroy_team(tm);
  return gives_back ? 1 : 0;
}

}  // extern "C"
