#include "extended/state/rank_lists.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "core/api_types.h"
#include "core/base/check.h"
#include "core/engine/engine.h"
#include "extended/state/job.h"

namespace pinwire {
namespace {

/// Makes the list in the first call.
template <uint32_t (*SetOf)(Rank)>
RankList members() {
  static const auto list = [] {
    std::vector<std::remove_const_t<gex_RankInfo_t>> made;
    for (Rank rank = 0; rank < engine.rank_count; ++rank) {
      if (SetOf(rank) == SetOf(engine.rank)) made.push_back({rank});
    }
    return made;
  }();
  const auto mine = std::find_if(list.begin(), list.end(),
                                 [](const auto& info) { return info.gex_jobrank == engine.rank; });
  dcheck(mine != list.end(), "this rank is not in its own set", engine.rank);
  return {list.data(), static_cast<Rank>(list.size()), static_cast<Rank>(mine - list.begin())};
}

}  // namespace

uint32_t neighbourhood_of(Rank rank) noexcept {
  dcheck(rank < job()->places.size(), "the set of a rank that the job has not", rank);
  return job()->kind == SegmentKind::kEverything ? rank : job()->places[rank].supernode;
}
uint32_t host_of(Rank rank) noexcept {
  dcheck(rank < job()->places.size(), "the host of a rank that the job has not", rank);
  return job()->places[rank].host;
}

RankList neighbours() noexcept { return members<neighbourhood_of>(); }
RankList ranks_of_this_host() noexcept { return members<host_of>(); }

void make_rank_lists() {
  neighbours();
  ranks_of_this_host();
}

}  // namespace pinwire
