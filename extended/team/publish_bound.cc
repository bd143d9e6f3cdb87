#include "extended/team/publish_bound.h"

#include <cstring>
#include <vector>

#include "core/base/check.h"
#include "extended/segments/remote.h"
#include "extended/team/gather_over.h"

namespace pinwire {

Status publish_bound(gex_TM_t tm, pinwire_ep** endpoints, size_t count) {
  std::vector<BoundFacts> mine;
  for (size_t i = 0; i < count; ++i) mine.push_back(own_bound_facts(endpoints[i]->index));
  const auto all = gather_over(tm, std::as_bytes(std::span(mine)));
  check(all.size() == tm->size, "the facts of another number of members", all.size(), tm->size);
  for (gex_Rank_t member = 0; member < tm->size; ++member) {
    const auto& told = all[member];
    const Rank peer = rank_of(pinwire_target(tm, member));
    if (told.size() % sizeof(BoundFacts) != 0) {
      return error("rank %u tells malformed facts of a segment", peer);
    }
    for (size_t at = 0; at < told.size(); at += sizeof(BoundFacts)) {
      BoundFacts facts;
      std::memcpy(&facts, told.data() + at, sizeof facts);
      if (auto reached = reach_bound(peer, facts); !reached) return reached;
    }
  }
  return success();
}

}  // namespace pinwire
