#include <algorithm>

#include "core/base/check.h"
#include "core/base/log.h"
#include "extended/team/gather_over.h"
#include "extended/team/team.h"

namespace pinwire {
namespace {

/// The facts that each caller sends to the others.
struct SplitFacts {
  Choice choice;
  uint32_t seat;
  uint64_t line;  ///< what the seat's shows
  Target target;
  uint64_t scratch_bytes;
  gex_Flags_t flags;
};

/// GX-070, EX-135: single-valued in each colour.
void check_alike(const std::vector<SplitFacts>& told, const std::vector<Rank>& members) noexcept {
  const SplitFacts& first = told[members[0]];
  for (const Rank rank : members) {
    const SplitFacts& other = told[rank];
    if (other.scratch_bytes != first.scratch_bytes || other.flags != first.flags) {
      fatal(
          "gex_TM_Split: ranks %u and %u of one colour pass %llu and %llu bytes of scratch, flags "
          "0x%x and 0x%x; pass the same (GX-070)",
          members[0], rank, static_cast<unsigned long long>(first.scratch_bytes),
          static_cast<unsigned long long>(other.scratch_bytes), first.flags, other.flags);
    }
  }
}

}  // namespace

void split_team(gex_TM_t* new_tm_p, gex_TM_t parent, const Choice& choice,
                const gex_Memvec_t& scratch, gex_Flags_t flags) {
  const bool joins = new_tm_p != nullptr;
  Member* seat = joins ? &take_seat() : nullptr;
  const SplitFacts mine{joins ? choice : Choice{-1, 0},
                        joins ? seat->seat : 0,
                        joins ? TeamBarrier::count_of(seat->seat) : 0,
                        pinwire_target(parent, parent->rank),
                        scratch.gex_len,
                        flags};
  const std::vector<SplitFacts> told = gather_values(parent, mine);
  if (joins) {
    std::vector<Choice> choices;
    for (const SplitFacts& other : told) choices.push_back(other.choice);
    const std::vector<Rank> members = members_of(choices, choice.color);
    check_alike(told, members);
    std::vector<Target> targets;
    std::vector<uint32_t> seats;
    uint64_t lines_from = 0;
    for (const Rank rank : members) {
      targets.push_back(told[rank].target);
      seats.push_back(told[rank].seat);
      lines_from = std::max(lines_from, told[rank].line);
    }
    const auto own = std::find(members.begin(), members.end(), parent->rank);
    check(own != members.end(), "this member is in the team that it chose", parent->rank);
    check(lines_from >= mine.line, "barriers would be counted from behind this member's line",
          lines_from, mine.line);
    const Newcomer newcomer{parent->endpoint, static_cast<Rank>(own - members.begin()), seat, flags,
                            scratch};
    *new_tm_p = make_team(newcomer, std::move(targets), std::move(seats), lines_from);
  }
  meet(parent);  // messages for the new teams come to nobody before
}

}  // namespace pinwire
