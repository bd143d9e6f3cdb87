#include "extended/state/rank_lists.h"

#include "core/engine/engine.h"
#include "extended/state/job.h"

namespace pinwire {
namespace {

/// The ranks whose `set_of` is this rank's; made by the first call.
template <uint32_t (*SetOf)(Rank)>
const RankList& members() {
  static const RankList list = [] {
    RankList made;
    for (Rank rank = 0; rank < engine.rank_count; ++rank) {
      if (SetOf(rank) == SetOf(engine.rank)) made.push_back({rank});
    }
    return made;
  }();
  return list;
}

}  // namespace

uint32_t neighbourhood_of(Rank rank) noexcept {
  return job()->kind == SegmentKind::kEverything ? rank : job()->places[rank].supernode;
}
uint32_t host_of(Rank rank) noexcept { return job()->places[rank].host; }

const RankList& neighbours() noexcept { return members<neighbourhood_of>(); }
const RankList& ranks_of_this_host() noexcept { return members<host_of>(); }

void make_rank_lists() {
  neighbours();
  ranks_of_this_host();
}

}  // namespace pinwire
