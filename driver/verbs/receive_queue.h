// A shared receive queue with its completion queue: the messages of one class that any peer sends
// to one lane. Memory grows with the messages in flight, not with the peers.
//
// Buffers are posted again before the handlers of what arrived run: as many spare ones stand by as
// a caller may hold.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "driver/verbs/buffer_pool.h"
#include "driver/verbs/senders.h"
#include "driver/work.h"

namespace pinwire::verbs {

/// data % 16 == 8 for the receiver (work.h).
inline constexpr uint32_t kReceiveOffset = 8;

class ReceiveQueue {
 public:
  /// Messages that a caller may hold at once without starving the queue.
  static constexpr uint32_t kSpare = 64;

  Status open(const Device& device, MessageClass cls, uint32_t depth, uint32_t message_bytes_max,
              ibv_comp_channel* channel);
  void close() noexcept;
  /// Has messages told apart by their connection rather than by what they say.
  void tell_by(const Senders& senders) noexcept { senders_ = &senders; }
  uint32_t depth() const noexcept { return depth_; }

  ibv_srq* shared_queue() const noexcept { return queue_.get(); }
  ibv_cq* completions() const noexcept { return completions_.get(); }

  /// What arrived, oldest first. One that failed, or that no rank of the job can have sent, is left
  /// out, and in `bad`.
  uint32_t poll(std::span<Recv> out, Rank rank_count, std::optional<ibv_wc>& bad) noexcept;
  void give_back(uint32_t buffer) noexcept {
    buffers_.give(buffer);
    refill(kRefillBatch);
  }

  /// Has the next arrival make the channel readable.
  bool request_notification() noexcept { return ibv_req_notify_cq(completions_.get(), 0) == 0; }
  /// Looks without handing out: what is found comes first from the next poll().
  bool look() noexcept;
  bool has_seen() const noexcept { return has_seen_; }

 private:
  static constexpr uint32_t kRefillBatch = 8;

  /// Posts what is spare, if it is at least `least` or the queue runs low.
  void refill(uint32_t least) noexcept;

  BufferPool buffers_;
  Owned<ibv_cq, ibv_destroy_cq> completions_;
  Owned<ibv_srq, ibv_destroy_srq> queue_;
  std::vector<ibv_recv_wr> requests_;  // one for each buffer, written once but for `next`
  std::vector<ibv_sge> places_;
  const Senders* senders_ = nullptr;
  uint32_t depth_ = 0;
  uint32_t posted_ = 0;
  MessageClass cls_ = MessageClass::kRequest;
  bool has_seen_ = false;
  ibv_wc seen_{};  // by look()
};

}  // namespace pinwire::verbs
