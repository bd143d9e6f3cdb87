// Waist 2: something that moves raw Ethernet frames. A DPDK ethdev, a packet socket, the simulator.
//
// Calls for one queue are serialised by the caller. Data plane: noexcept, no allocation, no
// waiting.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/result.h"

namespace pinwire {

using MacAddress = std::array<uint8_t, 6>;

struct PortFacts {
  MacAddress mac{};
  uint32_t frame_bytes_max = 1514;  ///< Ethernet header to end of payload, no FCS
  uint32_t queues = 1;
  uint32_t tx_burst_max = 32;
  uint32_t rx_buffers =
      1024;  ///< receive buffers of one queue: how many frames may be held unreleased
  bool zero_copy_tx = false;  ///< bodies inside attached memory are sent without a copy
  bool ip_checksum_offload = false;
  bool udp_checksum_offload = false;
  /// Frames go from memory to memory inside one host: nothing on their way can damage them, and
  /// every received one has checksum_good.
  bool memory_medium = false;
  /// Frames stay on this host, but may go through another process: their delay tells of the
  /// scheduler, not of congestion.
  bool inside_host = false;
  bool event_fd = false;
  uint64_t speed_bits_per_s = 0;  ///< 0: unknown

  /// Nothing between the ports carries shorter frames than they do.
  bool stays_inside_host() const noexcept { return memory_medium || inside_host; }
};

/// A frame to send. The port copies `head` before tx() returns. `body`, if any, follows it on the
/// wire; when it lies in memory attached under `body_key` the port may send it in place, else it
/// copies. Body bytes must stay mapped until detach(); whoever changes them while a retransmission
/// may still be queued must know that the receiver drops it as a duplicate.
struct TxFrame {
  const std::byte* head;
  uint32_t head_bytes;
  uint32_t body_bytes;
  const std::byte* body;
  uint32_t body_key;  ///< 0: not attached
};

/// A frame that arrived: contiguous, in the port's buffer until release(). data % 16 == 0.
struct RxFrame {
  std::byte* data;
  uint32_t bytes;
  bool checksum_good;  ///< the device verified IP and UDP checksums, or facts().memory_medium;
                       ///< false: verify in software
  void* buffer;
};

enum class PortArmed : uint8_t { kArmed, kBusy };

class Port {
 public:
  virtual ~Port() = default;
  virtual PortFacts facts() const noexcept = 0;
  /// Takes a prefix of `frames`; a short count is back-pressure.
  virtual uint32_t tx(uint32_t queue, std::span<const TxFrame> frames) noexcept = 0;
  virtual uint32_t rx(uint32_t queue, std::span<RxFrame> frames) noexcept = 0;
  virtual void release(uint32_t queue, std::span<const RxFrame> frames) noexcept = 0;
  /// Gives a received frame a buffer with room for `bytes`, at most facts().frame_bytes_max, which
  /// the caller may write until release(): its own one, or another for it. The contents of the
  /// frame are lost then. False: no such buffer is free; the frame stays as it is.
  virtual bool widen(uint32_t queue, RxFrame& frame, uint32_t bytes) noexcept = 0;
  /// Control plane: makes memory known for zero-copy transmit; the key is never 0. A port without
  /// zero_copy_tx answers 0 and copies.
  virtual Result<uint32_t> attach(void* base, uint64_t bytes) = 0;
  virtual void detach(uint32_t key) = 0;
  virtual int event_fd(uint32_t queue) const noexcept = 0;
  virtual PortArmed arm(uint32_t queue) noexcept = 0;
  /// As Driver::disarm().
  virtual bool disarm(uint32_t queue) noexcept {
    (void)queue;
    return false;
  }
};

}  // namespace pinwire
