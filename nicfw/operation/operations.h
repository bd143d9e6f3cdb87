// The operations of a lane: each is an accepted Work from take() until its Done is handed out. The
// pool is fixed. Peers share it by the accounts of pool_share.h, of which a flow of a peer is a
// holder (SendFlow::operations).
//
// An operation is active from take() to finish(), and then done until done() hands out its Done.
// drop() ends it without one. A silent operation has no Done: finish() drops it.
#pragma once

#include <cstdint>
#include <span>

#include "driver/work.h"
#include "nicfw/flow/peer.h"
#include "nicfw/pool/index_pool.h"
#include "nicfw/pool/pool_share.h"
#include "nicfw/pool/slots.h"

namespace pinwire {

class Operations {
 public:
  /// `peers` are those of the lane, by rank, and outlive this. `first_generation`: where the names
  /// begin to count; tests start next to the wrap.
  void make(Peer* peers, uint32_t ranks, uint32_t window_frames, uint32_t first_generation);

  /// An active operation for `work`, or kNoIndex if its flow may have no more.
  Index take(const Work& work) noexcept;
  void drop(Index index) noexcept;
  /// May the operation that was just taken for the flow wait? Its own may always. A quarter of the
  /// shared ones stays for work that finds a frame, and so goes to a peer that takes it; and a flow
  /// has no more than are free beyond that (as pool_share.h says of all work).
  bool may_wait(const SendFlow& send) const noexcept;

  /// Under which a peer's response names it: no other operation had that name lately.
  uint64_t name(Index index) const noexcept;
  /// The active operation that a response of that peer names, or kNoIndex. Total over untrusted
  /// names.
  Index find(uint64_t name, Rank peer) const noexcept;

  void finish(Index index, WorkStatus status) noexcept;
  /// One of its frames was acknowledged. The last one ends it, if all of it is built.
  void frame_acked(Index index) noexcept;
  /// Finishes the active operations of that peer, or with kEveryPeer of all.
  void finish_all(Rank peer, WorkStatus status) noexcept;
  static constexpr Rank kEveryPeer = ~Rank{0};
  /// Hands out what is done, the oldest first.
  uint32_t done(std::span<Done> out) noexcept;
  bool has_done() const noexcept { return !done_.empty(); }

  /// From now on it counts as awaited, until it is dropped. True: no other one was.
  bool await_response(Operation& operation) noexcept;
  bool has_awaited() const noexcept { return awaited_ != 0; }
  /// Calls `visit` with the peer of each active operation that a response ends. `visit` may finish
  /// operations.
  template <typename Visit>
  void for_each_awaited(Visit visit) const noexcept {
    for (uint32_t i = 0; i < pool_.size(); ++i) {
      const Operation& operation = pool_[static_cast<Index>(i)];
      if (operation.is_awaited && operation.state == OpState::kActive) visit(operation.work.peer);
    }
  }

  Operation& operator[](Index index) noexcept { return pool_[index]; }
  const Operation& operator[](Index index) const noexcept { return pool_[index]; }
  uint32_t used_high_water() const noexcept { return pool_.used_high_water(); }

 private:
  SendFlow& holder_of(const Work& work) const noexcept;

  Peer* peers_ = nullptr;
  uint32_t first_generation_ = 0;
  uint32_t kept_ = 0;  ///< shared ones that operations which wait leave free
  uint32_t awaited_ = 0;
  PoolShare share_;
  IndexPool<Operation> pool_;
  IndexList done_;
};

}  // namespace pinwire
