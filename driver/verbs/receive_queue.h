// What arrives at one lane in messages of one class, from all peers: a completion queue, and either
// a shared receive queue, whose memory grows with the messages in flight and not with the peers,
// or, where the device has none (Intel's irdma), the receive queues of the connections, each with
// buffers for all that its peer may send before it gets credit (lane_open.cc).
//
// Buffers of a shared queue are posted again before the handlers of what arrived run: as many spare
// ones stand by as a caller may hold.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>

#include "driver/verbs/receive_buffers.h"
#include "driver/verbs/senders.h"

namespace pinwire::verbs {

class ReceiveQueue {
 public:
  /// Messages that a caller may hold at once without starving the queue.
  static constexpr uint32_t kSpare = 64;

  struct Sizes {
    uint32_t depth;        ///< of the shared queue, or of that of each connection
    uint32_t owner_count;  ///< ranks that have queues of their own; 0: they share one
    uint32_t message_bytes_max;
  };
  Status open(const Device& device, MessageClass cls, const Sizes& sizes,
              ibv_comp_channel* channel);
  void close() noexcept;
  /// Gives the connection to a peer its buffers, where there is no shared queue. By the connector,
  /// while the lane works; before the connection is made.
  Status add(const Device& device, Rank peer, ibv_qp* connection);
  /// Has messages told apart by their connection rather than by what they say.
  void tell_by(const Senders& senders) noexcept { senders_ = &senders; }
  /// Buffers that are posted at most: of all peers, or of each where each has its own.
  uint32_t depth() const noexcept { return sizes_.depth; }
  bool is_shared() const noexcept { return owned_ == nullptr; }

  ibv_srq* shared_queue() const noexcept { return queue_.get(); }
  ibv_cq* completions() const noexcept { return completions_.get(); }

  /// What arrived, oldest first. One that failed, or that no rank of the job can have sent, is left
  /// out, and in `bad`.
  uint32_t poll(std::span<Recv> out, Rank rank_count, std::optional<ibv_wc>& bad) noexcept;
  void give_back(Rank peer, uint32_t buffer) noexcept { buffers_of(peer).give_back(buffer); }

  /// Has the next arrival make the channel readable.
  bool request_notification() noexcept { return ibv_req_notify_cq(completions_.get(), 0) == 0; }
  /// Looks without handing out: what is found comes first from the next poll().
  bool look() noexcept;
  bool has_seen() const noexcept { return has_seen_; }

 private:
  Status open_completions(const Device& device, uint32_t entries, ibv_comp_channel* channel);
  Status open_shared(const Device& device);
  bool take(const ibv_wc& arrived, Rank rank_count, Recv& out, std::optional<ibv_wc>& bad) noexcept;
  Rank sender_of(const ibv_wc& arrived) const noexcept {
    if (!is_shared()) return ReceiveBuffers::owner_in(arrived.wr_id);
    return senders_ == nullptr ? arrived.imm_data : senders_->rank_of(arrived.qp_num);
  }
  /// The shared buffers, or those of a peer's connection. The acquire pairs with add().
  ReceiveBuffers& buffers_of(Rank peer) noexcept {
    return is_shared() ? shared_ : *owned_[peer].load(std::memory_order_acquire);
  }

  Sizes sizes_{};
  Owned<ibv_cq, ibv_destroy_cq> completions_;
  ReceiveBuffers shared_;
  Owned<ibv_srq, ibv_destroy_srq> queue_;
  std::unique_ptr<std::atomic<ReceiveBuffers*>[]> owned_;  // by rank; without a shared queue
  const Senders* senders_ = nullptr;
  MessageClass cls_ = MessageClass::kRequest;
  bool has_seen_ = false;
  ibv_wc seen_{};  // by look()
};

}  // namespace pinwire::verbs
