// Memory from which frames' bodies are sent in place.
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_memory.h>
#include <unistd.h>

#include <cstring>

#include "core/base/check.h"
#include "core/base/log.h"
#include "driver/dpdk/eal/eal_log.h"
#include "driver/dpdk/port/ethdev_port.h"

namespace pinwire {
namespace {

constexpr uint32_t kWaitStepUs = 10;

struct Search {
  uintptr_t base, end;
  uint32_t found;
};

void look_at_body(rte_mempool*, void* opaque, void* object, unsigned) {
  auto& search = *static_cast<Search*>(opaque);
  auto* mbuf = static_cast<rte_mbuf*>(object);
  // Atomic: net_ring's peer frees them in another thread. An mbuf that was given back points to
  // itself.
  const auto at = reinterpret_cast<uintptr_t>(__atomic_load_n(&mbuf->buf_addr, __ATOMIC_ACQUIRE));
  search.found += at >= search.base && at < search.end;
}

/// How many mbufs point to bodies in [base, end): frames that the device has not given back.
/// Nothing is counted while frames are sent, so that it costs them nothing.
uint32_t bodies_held(rte_mempool* pool, uintptr_t base, uintptr_t end) noexcept {
  Search search{base, end, 0};
  rte_mempool_obj_iter(pool, look_at_body, &search);
  return search.found;
}

/// Drivers that free an mbuf only when they reuse its descriptor still know whether the device has
/// read it.
bool descriptors_done(const PortQueue& queue, uint16_t ring_frames) noexcept {
  for (uint16_t i = 0; i < ring_frames; ++i) {
    const int status = rte_eth_tx_descriptor_status(queue.ethdev, queue.index, i);
    if (status != RTE_ETH_TX_DESC_DONE && status != RTE_ETH_TX_DESC_UNAVAIL) return false;
  }
  return true;
}

}  // namespace

/// Memory that cannot be mapped is no reason to end a job: what lies there is copied into frames.
void EthdevPort::count_unmapped(const Attached& region, const char* problem) {
  const std::string tail = eal_log_tail();
  if (unmapped_regions_++ != 0) return;  // one warning; the rest is counted
  log_warning(
      "%llu bytes at %p cannot be mapped for DMA by %s (%s%s%s), so what is sent from there is "
      "copied: raise the limit of locked memory (ulimit -l), and give it whole pages; or the IOMMU "
      "has too few address bits. Others like it are counted as port_unmapped_regions",
      static_cast<unsigned long long>(region.end - region.base),
      reinterpret_cast<void*>(region.base), rte_dev_name(info_.device), problem,
      tail.empty() ? "" : "; ", tail.c_str());
}

bool EthdevPort::map_for_dma(const Attached& region) {
  auto* base = reinterpret_cast<void*>(region.base);
  const size_t bytes = region.end - region.base;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  if (rte_extmem_register(base, bytes, nullptr, 0, page) != 0) {
    count_unmapped(region, rte_strerror(rte_errno));
    return false;
  }
  if (rte_dev_dma_map(info_.device, base, region.base, bytes) != 0) {
    count_unmapped(region, rte_strerror(rte_errno));
    rte_extmem_unregister(base, bytes);
    return false;
  }
  return true;
}

Result<uint32_t> EthdevPort::attach(void* base, uint64_t bytes) {
  if (!facts_.zero_copy_tx) return uint32_t{0};
  const NoCancel whole;
  reap_lingering();
  Attached region{.base = reinterpret_cast<uintptr_t>(base),
                  .end = reinterpret_cast<uintptr_t>(base) + bytes};
  uint32_t slot = kAttachedMax;
  for (uint32_t i = kAttachedMax; i > 0; --i) {
    const Attached& other = attached_[i - 1];
    if (other.base == 0) slot = i - 1;
    // The device still reads the pages that were there before, or detach() of the one would take
    // them from the other.
    const bool overlaps = other.base < region.end && region.base < other.end;
    if (overlaps && other.is_mapped) return uint32_t{0};
  }
  if (slot == kAttachedMax) return uint32_t{0};  // copied from now on: slower, never wrong
  if (traits_.body_path == BodyPath::kMapped) {
    if (!map_for_dma(region)) return uint32_t{0};
    region.is_mapped = true;
  }
  attached_[slot] = region;
  return slot + 1;
}

void EthdevPort::flush_all_unsent() noexcept {
  for (PortQueue& queue : queues_) {
    const LcoreOfQueue lcore(queue.lcore);
    for (int tries = 0; !flush_unsent(queue) && tries < 1000; ++tries) usleep(kWaitStepUs);
    rte_pktmbuf_free_bulk(queue.unsent.mbufs + queue.unsent.first, queue.unsent.count);
    queue.unsent.count = 0;
  }
}

/// Will no queue read the region any more?
bool EthdevPort::is_done_with(const Attached& region) noexcept {
  for (PortQueue& queue : queues_) {
    const LcoreOfQueue lcore(queue.lcore);
    rte_eth_tx_done_cleanup(ethdev_, queue.index, 0);
    if (bodies_held(queue.body_pool, region.base, region.end) == 0) continue;
    if (!region.is_mapped || !descriptors_done(queue, tx_ring_frames_)) return false;
  }
  return true;
}

void EthdevPort::forget(Attached& region) noexcept {
  if (region.is_mapped) {
    auto* base = reinterpret_cast<void*>(region.base);
    rte_dev_dma_unmap(info_.device, base, region.base, region.end - region.base);
    rte_extmem_unregister(base, region.end - region.base);
  }
  region = {};
}

void EthdevPort::reap_lingering() noexcept {
  for (Attached& region : attached_) {
    if (region.is_lingering && is_done_with(region)) forget(region);
  }
}

/// Called while no thread uses the queues (Driver::unpin()).
void EthdevPort::detach(uint32_t key) {
  if (key == 0) return;
  const NoCancel whole;
  check(key <= kAttachedMax && attached_[key - 1].base != 0 && !attached_[key - 1].is_lingering,
        "detach of memory that is not attached", key);
  Attached& region = attached_[key - 1];
  flush_all_unsent();  // frames that wait to be sent point into it
  for (uint64_t waited_us = 0; waited_us <= options_.detach_timeout_ms * uint64_t{1000};
       waited_us += kWaitStepUs) {
    if (is_done_with(region)) {
      forget(region);
      return;
    }
    usleep(kWaitStepUs);
  }
  // Unmapped now, the device's read would fault; mapped, it sends what is there by then, which the
  // peer's checksum or its memory of sequences refuses.
  region.is_lingering = true;
  ++lingering_regions_;
  log_warning(
      "%s has not sent frames with data from %llu bytes at %p for %u ms, so this memory stays "
      "mapped for it until it has: is its link down?",
      describe().c_str(), static_cast<unsigned long long>(region.end - region.base),
      reinterpret_cast<void*>(region.base), options_.detach_timeout_ms);
}

}  // namespace pinwire
