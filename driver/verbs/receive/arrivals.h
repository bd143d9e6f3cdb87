// The messages that arrive at a lane: one completion queue for both classes, so that a turn asks
// the device once. Requests that come while a handler waits for replies alone are kept, in the
// buffers that they came in.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "driver/driver.h"
#include "driver/verbs/peer/address.h"
#include "driver/verbs/receive/receive_queue.h"

namespace pinwire::verbs {

class Arrivals {
 public:
  /// `entries`: buffers of both classes that may be posted at once; `requests_max`: those of
  /// requests, spare ones too.
  Status open(const Device& device, uint32_t entries, uint32_t requests_max,
              ibv_comp_channel* channel);
  void close() noexcept { completions_.reset(); }
  ibv_cq* completions() const noexcept { return completions_.get(); }

  /// By MessageClass.
  using Queues = ReceiveQueue[kLinksPerPeer];
  /// Replies, then requests unless they are left out; each class in the order of its arrival. One
  /// that failed, or that no rank of the job can have sent, is in `bad` instead.
  uint32_t poll(RecvFilter filter, std::span<Recv> out, Queues& queues,
                std::optional<ibv_wc>& bad) noexcept;
  /// Looks without handing out: what is found comes first from the next poll().
  bool look(Queues& queues, std::optional<ibv_wc>& bad) noexcept;
  bool has_kept() const noexcept { return has_reply_ || begin_ != end_; }

  /// Has the next arrival make the channel readable.
  bool request_notification() noexcept { return ibv_req_notify_cq(completions_.get(), 0) == 0; }

 private:
  static constexpr uint32_t kBatch = 32;

  struct Found {
    uint32_t all = 0;
    uint32_t replies = 0;
  };
  Found ask(std::span<Recv> replies, uint32_t most, Queues& queues,
            std::optional<ibv_wc>& bad) noexcept;
  void keep(const Recv& request) noexcept;
  uint32_t hand_out_kept(std::span<Recv> out) noexcept;

  Owned<ibv_cq, ibv_destroy_cq> completions_;
  std::vector<Recv> kept_;  // a ring of requests; each holds a buffer, so that they all have room
  uint32_t begin_ = 0, end_ = 0;
  Recv reply_{};  // by look()
  bool has_reply_ = false;
};

}  // namespace pinwire::verbs
