#include "driver/dpdk/port/port_memory.h"

#include <rte_mbuf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <bitset>
#include <cstdio>
#include <mutex>

#include "core/base/bits.h"
#include "driver/dpdk/port/port_queue.h"

namespace pinwire {
namespace {

constexpr uint32_t kBufferStepBytes = 1024;  // several NICs round a buffer's size down to this
constexpr uint32_t kFrameTailBytes = 12;     // FCS and two VLAN tags, which some NICs want room for
constexpr uint64_t kMbufOverheadBytes = 64 + 128 + RTE_PKTMBUF_HEADROOM + 64;
constexpr uint64_t kDeviceMemoryBytes = uint64_t{24} << 20;
/// A pool has a cache for every lcore that could be; a queue has two pools, and what the heap loses
/// between them.
constexpr uint64_t kPoolCachesBytes = RTE_MAX_LCORE * sizeof(rte_mempool_cache);
constexpr uint64_t kQueueMemoryBytes = 2 * kPoolCachesBytes + (uint64_t{4} << 20);

std::mutex lcore_mutex;
std::bitset<RTE_MAX_LCORE> lcores_taken{1};  // 0 is the thread that started EAL

/// The data plane must not meet a page for the first time: touch the pool's now.
void populate(rte_mempool* pool) {
  rte_mempool_mem_iter(
      pool,
      [](rte_mempool*, void*, rte_mempool_memhdr* part, unsigned) {
        const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
        const uintptr_t first = reinterpret_cast<uintptr_t>(part->addr) & ~(page - 1);
        const uintptr_t end = reinterpret_cast<uintptr_t>(part->addr) + part->len;
        madvise(reinterpret_cast<void*>(first), end - first, MADV_POPULATE_WRITE);
      },
      nullptr);
}

}  // namespace

uint32_t buffer_bytes(uint32_t frame_bytes, bool power_of_two) {
  const uint32_t bytes = round_up(frame_bytes + kFrameTailBytes, kBufferStepBytes);
  return power_of_two ? std::bit_ceil(bytes) : bytes;
}

uint32_t pool_frames(uint32_t rx_ring, uint32_t tx_ring, uint32_t rx_buffers) {
  return rx_ring + tx_ring + rx_buffers + 2 * kMempoolCache + 4 * kPortBurst;
}

uint64_t dpdk_port_memory_bytes(const DpdkPortOptions& options) {
  const uint64_t frames = pool_frames(options.ring_frames, options.ring_frames, options.rx_buffers);
  // The wish of a physical device is known only when EAL has its memory: the most.
  const uint64_t frame = buffer_bytes(options.frame_bytes, !options.make_vdev) + kMbufOverheadBytes;
  return kDeviceMemoryBytes +
         options.queues * (frames * (frame + kMbufOverheadBytes) + kQueueMemoryBytes);
}

rte_mempool* make_pool(const char* kind, uint32_t frames, uint16_t private_bytes,
                       uint32_t data_bytes, int& socket) {
  static std::atomic<uint32_t> serial{0};
  char name[RTE_MEMPOOL_NAMESIZE];
  std::snprintf(name, sizeof name, "pw_%s_%u", kind, serial++);
  const auto create = [&] {
    return rte_pktmbuf_pool_create(name, frames, kMempoolCache, private_bytes,
                                   static_cast<uint16_t>(data_bytes), socket);
  };
  rte_mempool* pool = create();
  if (pool == nullptr && socket != SOCKET_ID_ANY) {
    socket = SOCKET_ID_ANY;
    pool = create();
  }
  if (pool != nullptr) populate(pool);
  return pool;
}

uint32_t take_lcores(uint32_t count) {
  const std::lock_guard<std::mutex> hold(lcore_mutex);
  uint32_t run = 0;
  for (uint32_t i = 1; i < RTE_MAX_LCORE; ++i) {
    run = lcores_taken[i] ? 0 : run + 1;
    if (run < count) continue;
    for (uint32_t k = 0; k < count; ++k) lcores_taken[i - k] = true;
    return i + 1 - count;
  }
  return 0;
}

void give_lcores(uint32_t first, uint32_t count) {
  const std::lock_guard<std::mutex> hold(lcore_mutex);
  for (uint32_t k = 0; first != 0 && k < count; ++k) lcores_taken[first + k] = false;
}

}  // namespace pinwire
