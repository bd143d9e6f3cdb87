#include "nicfw/operation/responses.h"

#include <algorithm>

#include "core/base/check.h"

namespace pinwire {

void Responses::make(uint32_t ranks, uint32_t window_frames) {
  const PoolReserve reserve{.holders = std::min(ranks, kIdleBufferHoldersMax),
                            .own = kAsksPerFrameMax};
  share_ = PoolShare(reserve);
  // One peer alone may be owed half of them: four windows' worth.
  pool_.make(std::max(8 * window_frames, 4 * kAsksPerFrameMax) + reserve.items());
}

void Responses::owe(Peer& peer, const Record& record, bool is_short) noexcept {
  const Index index = pool_.take();
  check(index != kNoIndex, "a response without room was accepted");
  share_.took(peer.responses_owed++, false);
  pool_[index].record = record;
  pool_[index].built = 0;
  peer.responses.of(is_short).push(pool_, index);
}

void Responses::disown(Peer& peer, IndexRing& owed) noexcept {
  dcheck(peer.responses_owed > 0 && !owed.empty(), "a response that was not counted",
         peer.responses_owed);
  share_.gave(--peer.responses_owed, false);
  pool_.give(owed.pop(pool_));
}

void Responses::disown_all(Peer& peer) noexcept {
  for (IndexRing* owed : {&peer.responses.shorts, &peer.responses.longs}) {
    while (!owed->empty()) disown(peer, *owed);
  }
  dcheck(peer.responses_owed == 0, "a peer is owed a response that is in no queue",
         peer.responses_owed);
}

}  // namespace pinwire
