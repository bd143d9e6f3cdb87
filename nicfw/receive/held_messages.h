// Messages of a lane, from the arrival of their frame until the client has given them back. A frame
// with messages stays in the port's buffer meanwhile. One whose messages wait for frames before it
// is parked; the others are queued for the client, replies and requests by themselves. Frames that
// are not needed any more go back to the port in bursts.
#pragma once

#include <cstdint>
#include <span>

#include "driver/driver.h"
#include "nicfw/flow/peer.h"
#include "nicfw/pool/index_pool.h"
#include "nicfw/pool/slots.h"
#include "nicfw/port/port.h"

namespace pinwire {

/// Receive buffers for frames with requests.
struct RequestBuffers {
  uint32_t held = 0;
  uint32_t max = 0;
};

class HeldMessages {
 public:
  static constexpr uint32_t kReleasesMax = 32;  ///< frames that go back to the port at once

  /// `peers` are those of the lane, by rank; all that is given by reference outlives this. The port
  /// has `rx_buffers` for `queue`.
  void make(Port& port, uint32_t queue, Peer* peers, const ArrivedAheadPool& ahead,
            uint32_t rx_buffers);

  /// Requests leave buffers to the replies, and both leave some to acknowledgements and puts.
  bool may_hold(Flow flow) const noexcept;
  /// A message that waits for frames before it takes a buffer that only those frames set free, and
  /// some of them may carry messages, too: half of a flow's own buffers never wait.
  bool may_park(Flow flow) const noexcept;
  /// Holds a frame of the peer that may_hold(), or if it is early may_park(), allowed. Its messages
  /// wait until the `before` frames ahead of it have arrived.
  void hold(Peer& peer, const FrameHeader& header, const RxFrame& frame, uint32_t before) noexcept;
  bool has_parked() const noexcept { return !parked_.empty(); }
  /// Queues the messages of the peer for which nothing is missing now.
  void unpark(Rank peer) noexcept;
  /// The peer is given up: the frames for which its messages wait do not come any more.
  void drop_parked(Rank peer) noexcept;

  /// Is there a message for the client?
  bool has_arrivals() const noexcept { return !(replies_.empty() && requests_.empty()); }
  /// Hands messages of one class out, the oldest first, until `out` is full.
  uint32_t deliver(MessageClass cls, std::span<Recv> out) noexcept;
  void give_back(std::span<const Recv> messages) noexcept;

  /// A frame that is not held goes back to the port, with the next burst.
  void release(const RxFrame& frame) noexcept;
  bool has_releases() const noexcept { return release_count_ != 0; }
  void flush_releases() noexcept;

  const RequestBuffers& request_buffers() const noexcept { return request_buffers_; }
  uint32_t rx_buffers() const noexcept { return held_.size(); }

 private:
  IndexList& queue_of(MessageClass cls) noexcept {
    return cls == MessageClass::kRequest ? requests_ : replies_;
  }
  bool is_ready(const HeldFrame& held) const noexcept;
  void park(Index index) noexcept;
  void drop_reference(Index index) noexcept;

  Port* port_ = nullptr;
  uint32_t port_queue_ = 0;
  Peer* peers_ = nullptr;
  const ArrivedAheadPool* ahead_ = nullptr;
  IndexPool<HeldFrame> held_;
  IndexList requests_;
  IndexList replies_;
  IndexList parked_;
  uint32_t parked_count_[2] = {};  ///< of them requests, replies
  uint32_t held_max_ = 0;
  RequestBuffers request_buffers_;
  RxFrame releases_[kReleasesMax] = {};
  uint32_t release_count_ = 0;
};

}  // namespace pinwire
