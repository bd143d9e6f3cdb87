#include <algorithm>
#include <cstring>

#include "core/base/check.h"
#include "core/base/hash.h"
#include "core/base/log.h"
#include "extended/team/gather_over.h"
#include "extended/team/team.h"

namespace pinwire {
namespace {

/// The facts that each caller sends to the others about each of its members of the new team.
struct MemberFacts {
  uint64_t team;  ///< a hash of its members and flags, which are the same for all of them
  Target target;
  uint32_t seat;
  uint64_t line;  ///< what the seat's shows
};

uint64_t hash_of(const TeamWanted& wanted, gex_Flags_t flags) noexcept {
  const uint64_t hash = hash_more(kHashStart, &flags, sizeof flags);
  return hash_more(hash, wanted.targets.data(), wanted.targets.size() * sizeof(Target));
}

std::vector<MemberFacts> gather_told(gex_TM_t parent, const std::vector<MemberFacts>& mine) {
  const auto* bytes = reinterpret_cast<const std::byte*>(mine.data());
  const auto blobs = gather_over(parent, {bytes, mine.size() * sizeof(MemberFacts)});
  std::vector<MemberFacts> all;
  for (const auto& blob : blobs) {
    const size_t count = blob.size() / sizeof(MemberFacts);
    all.resize(all.size() + count);
    if (count != 0) std::memcpy(&all[all.size() - count], blob.data(), count * sizeof(MemberFacts));
  }
  return all;
}

bool is_before(const MemberFacts& a, const MemberFacts& b) noexcept { return a.target < b.target; }

/// Sorts the members by target; fatal if one is named twice, whatever teams are made (EX-114).
void sort_and_check(std::vector<MemberFacts>& told) noexcept {
  std::sort(told.begin(), told.end(), is_before);
  const auto twice = std::adjacent_find(
      told.begin(), told.end(),
      [](const MemberFacts& a, const MemberFacts& b) { return a.target == b.target; });
  if (twice == told.end()) return;
  fatal(
      "gex_TM_Create: endpoint %u of jobrank %u is in two teams of one call, or two callers of its "
      "process name it (EX-114)",
      endpoint_of(twice->target), rank_of(twice->target));
}

struct Seats {
  std::vector<uint32_t> seats;
  uint64_t lines_from = 0;
};
Seats seats_of(const std::vector<MemberFacts>& told, const TeamWanted& wanted, uint64_t team) {
  Seats all;
  for (const Target target : wanted.targets) {
    const auto at =
        std::lower_bound(told.begin(), told.end(), MemberFacts{0, target, 0, 0}, is_before);
    if (at == told.end() || at->target != target || at->team != team) {
      fatal(
          "gex_TM_Create: endpoint %u of jobrank %u is a member of the new team, but nobody in its "
          "process passes the same members and flags (EX-108, EX-113)",
          endpoint_of(target), rank_of(target));
    }
    all.seats.push_back(at->seat);
    all.lines_from = std::max(all.lines_from, at->line);
  }
  return all;
}

}  // namespace

void create_team(gex_TM_t* new_tms, gex_TM_t parent, const TeamWanted& wanted, gex_Flags_t flags) {
  const uint64_t team = hash_of(wanted, flags);
  std::vector<MemberFacts> mine;
  std::vector<Newcomer> newcomers;
  for (Rank rank = 0; rank < wanted.targets.size(); ++rank) {
    const Target target = wanted.targets[rank];
    if (rank_of(target) != engine.rank) continue;
    check(objects.endpoints[endpoint_of(target)] != nullptr, "a member without an endpoint",
          target);
    check(wanted.scratch.empty() || mine.size() < wanted.scratch.size(), "a member without scratch",
          mine.size(), wanted.scratch.size());
    const gex_Memvec_t scratch =
        wanted.scratch.empty() ? gex_Memvec_t{} : wanted.scratch[mine.size()];
    newcomers.push_back(
        {objects.endpoints[endpoint_of(target)], rank, &take_seat(), flags, scratch});
    const uint32_t seat = newcomers.back().seat->seat;
    mine.push_back({team, target, seat, TeamBarrier::count_of(seat)});
  }
  std::vector<MemberFacts> told = gather_told(parent, mine);
  sort_and_check(told);
  if (!newcomers.empty()) {
    const Seats seats = seats_of(told, wanted, team);
    for (const Newcomer& newcomer : newcomers) {
      *new_tms++ = make_team(newcomer, wanted.targets, seats.seats, seats.lines_from);
    }
  }
  meet(parent);  // messages for the new teams come to nobody before
}

}  // namespace pinwire
