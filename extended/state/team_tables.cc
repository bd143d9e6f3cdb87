#include "extended/state/team_tables.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/check.h"

namespace pinwire {

void TeamTables::sort() {
  by_jobrank.resize(targets.size());
  std::iota(by_jobrank.begin(), by_jobrank.end(), Rank{0});
  std::sort(by_jobrank.begin(), by_jobrank.end(), [this](Rank a, Rank b) {
    return std::pair(rank_of(targets[a]), a) < std::pair(rank_of(targets[b]), b);
  });
}

bool TeamTables::find(Rank jobrank, Rank& rank) const noexcept {
  dcheck(by_jobrank.size() == targets.size(), "the members of a team are not sorted",
         by_jobrank.size(), targets.size());
  const auto at =
      std::lower_bound(by_jobrank.begin(), by_jobrank.end(), jobrank,
                       [this](Rank a, Rank wanted) { return rank_of(targets[a]) < wanted; });
  if (at == by_jobrank.end() || rank_of(targets[*at]) != jobrank) return false;
  rank = *at;
  return true;
}

std::vector<Rank> members_of(const std::vector<Choice>& choices, int32_t color) {
  check(color >= 0, "the members of no team", color);
  std::vector<Rank> members;
  for (Rank rank = 0; rank < choices.size(); ++rank) {
    if (choices[rank].color == color) members.push_back(rank);
  }
  std::sort(members.begin(), members.end(), [&](Rank a, Rank b) {
    return std::pair(choices[a].key, a) < std::pair(choices[b].key, b);
  });
  return members;
}

}  // namespace pinwire
