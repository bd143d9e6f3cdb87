// The hot state of one queue of a DpdkPort, and the little that its transmit and receive halves
// share.
#pragma once

#include <rte_lcore.h>
#include <rte_mbuf.h>

#include <cstdint>

#include "core/base/bits.h"
#include "core/base/no_cancel.h"
#include "driver/dpdk/port/port.h"

namespace pinwire {

inline constexpr uint32_t kPortBurst = 32;
inline constexpr uint32_t kMempoolCache = 256;
inline constexpr uint32_t kRxAlignBytes = 16;

/// A queue, not a thread, owns a mempool cache: any client thread may drive any queue (one at a
/// time), and threads that EAL doesn't know would otherwise take the pools' slow, locked way.
class LcoreOfQueue {
 public:
  explicit LcoreOfQueue(uint32_t lcore) noexcept : saved_(RTE_PER_LCORE(_lcore_id)) {
    RTE_PER_LCORE(_lcore_id) = lcore;
  }
  ~LcoreOfQueue() noexcept { RTE_PER_LCORE(_lcore_id) = saved_; }
  LcoreOfQueue(const LcoreOfQueue&) = delete;
  LcoreOfQueue& operator=(const LcoreOfQueue&) = delete;

 private:
  unsigned saved_;
};

/// Mbufs that wait in order: built frames that the device had no room for, or frames that arm()
/// found.
struct MbufBacklog {
  rte_mbuf* mbufs[kPortBurst];
  uint32_t first = 0;
  uint32_t count = 0;
};

struct alignas(kCacheLineBytes) PortQueue {
  // Set at open, then read only.
  uint16_t ethdev = 0;
  uint16_t index = 0;
  uint32_t lcore = 0;
  rte_mempool* pool = nullptr;       ///< receive buffers, heads and copied bodies
  rte_mempool* body_pool = nullptr;  ///< data-less mbufs that point to attached bodies
  uint32_t frame_bytes_max = 0;
  uint32_t copy_bytes_max = 0;
  uint64_t checksum_flags = 0;  ///< RTE_MBUF_F_TX_… for every UDP frame, or 0
  int wake_fd = -1;             ///< epoll fd around the device's and poke_fd, edge-triggered
  int poke_fd = -1;
  uint16_t vlan = 0;          ///< DpdkPortOptions::vlan
  bool inserts_vlan = false;  ///< the device does
  bool vouched = false;       ///< DpdkPortOptions::memory_medium
  bool burst_costs = false;   ///< DeviceTraits::burst_costs
  bool calls_kernel = true;   ///< DeviceTraits::calls_kernel
  bool armed = false;
  uint16_t next_burst = kPortBurst;  ///< frames to ask for in the first burst of the next rx()

  alignas(kCacheLineBytes) DpdkPortCounters counters;
  alignas(kCacheLineBytes) MbufBacklog unsent;  ///< accepted by tx(), not yet by the device
  MbufBacklog found;                            ///< received by arm()
};

/// A turn of the device. Those of the kernel and of other processes (TAP, AF_PACKET, virtio, vhost)
/// read, send and write in their bursts, where a thread may be cancelled: the caller's lane is
/// locked then.
class DeviceTurn {
 public:
  explicit DeviceTurn(const PortQueue& queue) noexcept
      : whole_(queue.calls_kernel), lcore_(queue.lcore) {}

 private:
  const NoCancelBesideOthers whole_;
  const LcoreOfQueue lcore_;
};

}  // namespace pinwire
