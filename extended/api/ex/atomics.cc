// gasnet_ratomic.h: the C entry points of remote atomics (GX-154 to GX-163), for what is not
// inlined.
#include <algorithm>
#include <cstddef>
#include <cstdio>

#include "core/base/breach.h"
#include "core/base/log.h"
#include "core/engine/engine.h"
#include "core/trace/trace.h"
#include "extended/atomics/atomic.h"
#include "extended/atomics/domain.h"
#include "extended/checks/usage.h"
#include "extended/rma/explicit.h"
#include "extended/rma/sync.h"
#include "extended/rma/transfer.h"
#include "extended/state/failed_start.h"
#include "extended/state/objects.h"

using namespace pinwire;

static_assert(offsetof(pinwire_ad, team) == 0);

namespace {

constexpr gex_Flags_t kFavors =
    GEX_FLAG_AD_FAVOR_MY_RANK | GEX_FLAG_AD_FAVOR_MY_NBRHD | GEX_FLAG_AD_FAVOR_REMOTE;
/// The flags that state where segments lie: kept, and without effect, as GX-049 leaves it to
/// implementations.
constexpr gex_Flags_t kDispositions = 0x7f8;
static_assert((GEX_FLAG_SELF_SEG_UNKNOWN | GEX_FLAG_SELF_SEG_SOME | GEX_FLAG_SELF_SEG_BOUND |
               GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME |
               GEX_FLAG_PEER_SEG_BOUND | GEX_FLAG_PEER_SEG_OFFSET) == kDispositions);
constexpr gex_Flags_t kPlaces = GEX_FLAG_AD_MY_RANK | GEX_FLAG_AD_MY_NBRHD;

bool is_single(uint32_t bits) noexcept { return bits != 0 && (bits & (bits - 1)) == 0; }

void check_domain(gex_TM_t tm, gex_DT_t type, gex_OP_t codes, gex_Flags_t flags) noexcept {
  if (tm == GEX_TM_INVALID || is_pair(tm)) fatal("gex_AD_Create wants a team, no TM-pair (GX-154)");
  if (atomic_codes(type) == 0) {
    fatal(
        "gex_AD_Create wants one of the data types I32, U32, I64, U64, FLT and DBL, not 0x%x "
        "(GX-149)",
        type);
  }
  if (codes == 0 || (codes & ~atomic_codes(type)) != 0) {
    fatal(
        "gex_AD_Create: operations 0x%x are not of the data type 0x%x; floats have none on bits "
        "(GX-150)",
        codes & ~atomic_codes(type), type);
  }
  const gex_Flags_t favors = flags & kFavors;
  if ((flags & ~(kFavors | kDispositions)) != 0 || (favors != 0 && !is_single(favors))) {
    fatal("gex_AD_Create: flags 0x%x are not one of the GEX_FLAG_AD_FAVOR ones (GX-046)", flags);
  }
}

/// An operation as the client asks for it.
struct Request {
  gex_AD_t ad;
  gex_DT_t type;
  void* result;
  gex_Rank_t rank;
  void* address;
  gex_OP_t code;
  gex_Flags_t flags;
};

/// GX-047: the team may have other endpoints than the first of each rank.
gex_Rank_t rank_in_team(const char* call, const Request& request) noexcept {
  const gex_TM_t tm = request.ad->tm;
  const bool is_jobrank = (request.flags & GEX_FLAG_RANK_IS_JOBRANK) != 0;
  const gex_Rank_t rank =
      is_jobrank ? gex_TM_TranslateJobrankToRank(tm, request.rank) : request.rank;
  if (rank >= gex_TM_QuerySize(tm)) {
    fatal("%s to %s %u, which a team of %u has not (GX-158)", call, is_jobrank ? "jobrank" : "rank",
          request.rank, gex_TM_QuerySize(tm));
  }
  return rank;
}

void check_operation(const char* call, const Request& request) noexcept {
  const pinwire_ad& ad = *request.ad;
  if (request.type != ad.type) {
    breach("GX-158", "%s: the call's data type is 0x%x, the domain's 0x%x", call, request.type,
           ad.type);
  }
  if (!is_single(request.code)) {
    breach("GX-158", "%s wants one operation, not 0x%x", call, request.code);
  }
  if ((request.code & ad.codes) == 0) {
    breach("GX-158", "%s: gex_AD_Create was not told of the operation 0x%x, but of 0x%x", call,
           request.code, ad.codes);
  }
  if (atomic_fetches(request.code) && request.result == nullptr) {
    breach("GX-154", "%s: the operation 0x%x returns a value, but result_p is NULL", call,
           request.code);
  }
  if (reinterpret_cast<uintptr_t>(request.address) % atomic_bytes(request.type) != 0) {
    breach("GX-158", "%s at %p, which is not aligned for its %zu bytes", call, request.address,
           atomic_bytes(request.type));
  }
}

bool is_neighbour(gex_Rank_t jobrank) noexcept {
  gex_RankInfo_t* near = nullptr;
  gex_Rank_t count = 0;
  gex_System_QueryNbrhdInfo(&near, &count, nullptr);
  return std::any_of(near, near + count,
                     [=](const auto& info) { return info.gex_jobrank == jobrank; });
}

/// Debug builds: of what the flags promise.
void check_place(const char* call, const Request& request, gex_Rank_t jobrank) noexcept {
  const gex_Flags_t places = request.flags & kPlaces;
  if (places == kPlaces) {
    breach("GX-046", "%s with both GEX_FLAG_AD_MY_RANK and GEX_FLAG_AD_MY_NBRHD", call);
  }
  if ((places & GEX_FLAG_AD_MY_RANK) != 0 && jobrank != engine.rank) {
    breach("GX-046", "%s with GEX_FLAG_AD_MY_RANK, but to jobrank %u", call, jobrank);
  }
  if ((places & GEX_FLAG_AD_MY_NBRHD) != 0 && !is_neighbour(jobrank)) {
    breach("GX-046",
           "%s with GEX_FLAG_AD_MY_NBRHD, but to jobrank %u, which is in another neighbourhood",
           call, jobrank);
  }
}

[[noreturn, gnu::cold]] void end_outside(const char* call, const void* address,
                                         Target to) noexcept {
  const Route& route = engine.routes[to];
  char segment[160];
  std::snprintf(segment, sizeof segment, "jobrank %u's endpoint %u, %llu bytes at 0x%llx",
                rank_of(to), endpoint_of(to), static_cast<unsigned long long>(route.segment_bytes),
                static_cast<unsigned long long>(route.segment_base));
  if constexpr (kUsageChecks) {
    breach("GX-158", "%s at %p, outside the segment of %s", call, address, segment);
  }
  fatal("%s at %p, outside the segment of %s (GX-158)", call, address, segment);
}

/// False: GEX_FLAG_IMMEDIATE, and there is no room.
bool start(const char* call, const Request& request, uint64_t a, uint64_t b,
           pinwire_op& op) noexcept {
  if constexpr (kUsageChecks) check_operation(call, request);
  const Target to = pinwire_target(request.ad->tm, rank_in_team(call, request));
  if constexpr (kUsageChecks) check_place(call, request, rank_of(to));
  const size_t bytes = atomic_bytes(request.type);
  if (!in_segment_of(to, request.address, bytes)) [[unlikely]]
    end_outside(call, request.address, to);
  if (engine.routes[to].is_device) [[unlikely]] {
    fatal("%s at %p: remote atomics are for the host's memory, and that is a device's (EX-059)",
          call, request.address);
  }
  const AtomicCall what{request.type, request.code, a, b};
  note_event(Event::kAtomic, rank_of(to), bytes, request.code);
  pinwire_atomic_before(request.code, request.flags);
  void* result = atomic_fetches(request.code) ? request.result : nullptr;
  const bool is_started =
      start_atomic(*request.ad, to, request.address, what, result, op, patience_of(request.flags));
  pinwire_atomic_after(request.code, request.flags);
  return is_started;
}

/// GX-159.
pinwire_op& implicit_set_of(gex_OP_t code) noexcept {
  return code == GEX_OP_SET   ? implicit_puts()
         : code == GEX_OP_GET ? implicit_gets()
                              : implicit_rmws();
}

}  // namespace

extern "C" {

void gex_AD_Create(gex_AD_t* ad_p, gex_TM_t tm, gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags) {
  const RareCall inside;
  refuse_after_failed_start("gex_AD_Create");
  check_domain(tm, dt, ops, flags);
  if (ad_p == nullptr) fatal("gex_AD_Create: ad_p is NULL (GX-154)");
  const AtomicWay way = way_of(*tm, dt, ops, flags);
  *ad_p = new pinwire_ad{{way == AtomicWay::kNic ? unmapped() : tm}, tm, dt, ops, flags, way};
  trace_line('O', "atomic domain of operations 0x%x: %s", ops, path_of(**ad_p));
}

void gex_AD_Destroy(gex_AD_t ad) {
  const RareCall inside;
  if (ad == GEX_AD_INVALID) fatal("gex_AD_Destroy of GEX_AD_INVALID (GX-156)");
  if constexpr (kUsageChecks) {
    if (const uint32_t count = ad->under_way.load(std::memory_order_relaxed)) {
      breach("GX-156",
             "gex_AD_Destroy while %u operation(s) of this process are under way; synchronise "
             "them, and let a barrier tell that all members have",
             count);
    }
  }
  delete ad;
}

gex_Flags_t gex_AD_QueryFlags(gex_AD_t ad) { return ad->flags; }
gex_TM_t gex_AD_QueryTM(gex_AD_t ad) { return ad->tm; }
gex_DT_t gex_AD_QueryDT(gex_AD_t ad) { return ad->type; }
gex_OP_t gex_AD_QueryOps(gex_AD_t ad) { return ad->codes; }
void gex_AD_SetCData(gex_AD_t ad, const void* val) { ad->client_data.set(val); }
void* gex_AD_QueryCData(gex_AD_t ad) { return ad->client_data.get(); }

gex_Event_t pinwire_ad_nb(gex_AD_t ad, gex_DT_t dt, void* result_p, gex_Rank_t rank, void* addr,
                          gex_OP_t op, uint64_t a, uint64_t b, gex_Flags_t flags) {
  constexpr const char* kCall = "gex_AD_OpNB";
  const ClientCall inside(kCall);
  const Request request{ad, dt, result_p, rank, addr, op, flags};
  return start_explicit(patience_of(flags), [&](pinwire_op& counted) noexcept {
    return start(kCall, request, a, b, counted);
  });
}

int pinwire_ad_nbi(gex_AD_t ad, gex_DT_t dt, void* result_p, gex_Rank_t rank, void* addr,
                   gex_OP_t op, uint64_t a, uint64_t b, gex_Flags_t flags) {
  constexpr const char* kCall = "gex_AD_OpNBI";
  const ClientCall inside(kCall);
  const Request request{ad, dt, result_p, rank, addr, op, flags};
  return start(kCall, request, a, b, implicit_set_of(op)) ? 0 : 1;
}

const char* pinwire_ad_path(gex_AD_t ad) { return path_of(*ad); }

}  // extern "C"
