// The responses that a lane owes its peers: data of gets, results of atomics, refusals. The pool is
// fixed, and peers share it by the accounts of pool_share.h, of which a peer is a holder
// (Peer::responses_owed). They wait in the peer's two queues until the lane has built them into
// frames of the reply flow.
#pragma once

#include <cstdint>

#include "nicfw/flow/peer.h"
#include "nicfw/pool/index_pool.h"
#include "nicfw/pool/pool_share.h"
#include "nicfw/pool/slots.h"

namespace pinwire {

class Responses {
 public:
  void make(uint32_t ranks, uint32_t window_frames);

  /// May the peer be owed so many more?
  bool may_owe(const Peer& peer, uint32_t count) const noexcept {
    return count == 0 || share_.allows(peer.responses_owed, count, pool_.available(), false);
  }
  /// Owes the peer one that may_owe() allowed, behind those that it is owed already. `is_short`: it
  /// fits one frame.
  void owe(Peer& peer, const Record& record, bool is_short) noexcept;
  /// Forgets the oldest of `owed`, which is one of the peer's queues.
  void disown(Peer& peer, IndexRing& owed) noexcept;
  void disown_all(Peer& peer) noexcept;

  Response& operator[](Index index) noexcept { return pool_[index]; }
  const Response& operator[](Index index) const noexcept { return pool_[index]; }

 private:
  PoolShare share_;
  IndexPool<Response> pool_;
};

}  // namespace pinwire
