// Buffers for messages that arrive, and the receive queue that they are posted to: one that all
// connections of a class share, or that of a single connection where the device has no shared ones.
#pragma once

#include <vector>

#include "driver/verbs/device/buffer_pool.h"
#include "driver/work.h"

namespace pinwire::verbs {

/// data % 16 == 8 for the receiver (work.h).
inline constexpr uint32_t kReceiveOffset = 8;

class ReceiveBuffers {
 public:
  /// Buffers that were given back are posted so many at a time, while the queue is half full.
  static constexpr uint32_t kRefillBatch = 8;

  struct Sizes {
    uint32_t depth;  ///< of the receive queue
    uint32_t spare;  ///< buffers beyond those that the queue holds
    uint32_t message_bytes_max;
  };
  Status open(const Device& device, const Sizes& sizes, MessageClass cls, Rank owner);
  /// Fills the queue, and keeps it filled. A queue pair is in state INIT at least (IBA 10.8.3).
  void post_to(ibv_srq* queue) noexcept {
    check(own_queue_ == nullptr, "buffers of a connection are posted to a shared queue");
    shared_queue_ = queue;
    refill(1);
  }
  void post_to(ibv_qp* queue) noexcept {
    check(shared_queue_ == nullptr, "buffers of a shared queue are posted to a connection");
    own_queue_ = queue;
    refill(1);
  }

  /// The name of a work request, which its completion brings back.
  static uint64_t name_of(MessageClass cls, Rank owner, uint32_t buffer) noexcept {
    return uint64_t{owner} << 32 | static_cast<uint32_t>(cls) << kClassShift | buffer;
  }
  static Rank owner_in(uint64_t name) noexcept { return static_cast<Rank>(name >> 32); }
  static MessageClass class_in(uint64_t name) noexcept {
    return static_cast<MessageClass>(name >> kClassShift & 1);
  }
  static uint32_t buffer_in(uint64_t name) noexcept {
    return static_cast<uint32_t>(name & ((uint64_t{1} << kClassShift) - 1));
  }

  std::byte* message_at(uint32_t buffer) const noexcept {
    return buffers_.at(buffer) + kReceiveOffset;
  }
  /// The device has used a buffer; it is posted again after give_back().
  void note_arrival() noexcept {
    dcheck(posted_ != 0, "more messages arrived than buffers were posted");
    --posted_;
  }
  void give_back(uint32_t buffer) noexcept {
    buffers_.give(buffer);
    refill(kRefillBatch);
  }
  /// Posts what is spare, if it is at least `least` or the queue runs low.
  void refill(uint32_t least) noexcept;
  /// The connection has failed: its queue would return at once what is posted to it.
  void stop() noexcept { is_stopped_ = true; }

 private:
  static constexpr uint32_t kClassShift = 31;

  BufferPool buffers_;
  std::vector<ibv_recv_wr> requests_;  // one for each buffer, written once but for `next`
  std::vector<ibv_sge> places_;
  ibv_srq* shared_queue_ = nullptr;  // one of the two is there
  ibv_qp* own_queue_ = nullptr;
  uint32_t depth_ = 0;
  uint32_t posted_ = 0;
  bool is_stopped_ = false;
};

}  // namespace pinwire::verbs
