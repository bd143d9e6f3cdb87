// Where messages of one class from all peers come to at a lane: either a shared receive queue,
// whose memory grows with the messages in flight and not with the peers, or, where the device has
// none (Intel's irdma), the receive queues of the connections, each with buffers for all that its
// peer may send before it gets credit (lane_open.cc).
//
// Buffers of a shared queue are posted again before the handlers of what arrived run: as many spare
// ones stand by as a caller may hold.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>

#include "driver/verbs/receive/receive_buffers.h"
#include "driver/verbs/receive/senders.h"

namespace pinwire::verbs {

class ReceiveQueue {
 public:
  /// Messages that a caller may hold at once without starving the queue.
  static constexpr uint32_t kSpare = 64;

  struct Sizes {
    uint32_t depth;        ///< of the shared queue, or of that of each connection
    uint32_t owner_count;  ///< ranks that have queues of their own; 0: they share one
    uint32_t message_bytes_max;
    Rank rank_count;
  };
  Status open(const Device& device, ibv_pd* domain, MessageClass cls, const Sizes& sizes);
  void close() noexcept;
  /// Gives the connection to a peer its buffers, where there is no shared queue. By the connector,
  /// while the lane works; before the connection is made.
  Status add(const Device& device, Rank peer, ibv_qp* connection);
  /// Has messages told apart by their connection rather than by what they say.
  void tell_by(const Senders& senders) noexcept { senders_ = &senders; }
  /// Buffers that are posted at most: of all peers, or of each where each has its own.
  uint32_t depth() const noexcept { return sizes_.depth; }
  uint32_t posted_max() const noexcept { return depth() * (is_shared() ? 1 : sizes_.owner_count); }
  bool is_shared() const noexcept { return owned_ == nullptr; }

  ibv_srq* shared_queue() const noexcept { return queue_.get(); }

  /// False: it failed, or no rank of the job can have sent it, and is in `bad`.
  bool take(const ibv_wc& arrived, Recv& out, std::optional<ibv_wc>& bad) noexcept;
  /// Posts spare buffers in the place of those that were taken.
  void refill() noexcept {
    if (is_shared()) shared_.refill(ReceiveBuffers::kRefillBatch);
  }
  void give_back(Rank peer, uint32_t buffer) noexcept { buffers_of(peer).give_back(buffer); }

 private:
  Status open_shared(const Device& device, ibv_pd* domain);
  Rank sender_of(const ibv_wc& arrived) const noexcept {
    if (!is_shared()) return ReceiveBuffers::owner_in(arrived.wr_id);
    return senders_ == nullptr ? arrived.imm_data : senders_->rank_of(arrived.qp_num);
  }
  /// The shared buffers, or those of a peer's connection. The acquire pairs with add().
  ReceiveBuffers& buffers_of(Rank peer) noexcept {
    dcheck(is_shared() || peer < sizes_.owner_count, "a rank that has no receive queue", peer);
    return is_shared() ? shared_ : *owned_[peer].load(std::memory_order_acquire);
  }

  Sizes sizes_{};
  ReceiveBuffers shared_;
  Owned<ibv_srq, ibv_destroy_srq> queue_;
  std::unique_ptr<std::atomic<ReceiveBuffers*>[]> owned_;  // by rank; without a shared queue
  const Senders* senders_ = nullptr;
  MessageClass cls_ = MessageClass::kRequest;
};

}  // namespace pinwire::verbs
