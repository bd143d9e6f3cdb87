// Memory from which frames' bodies are sent in place.
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_memory.h>
#include <unistd.h>

#include <cstring>

#include "core/base/check.h"
#include "core/base/log.h"
#include "driver/dpdk/eal_log.h"
#include "driver/dpdk/ethdev_port.h"

namespace pinwire {

Result<uint32_t> EthdevPort::attach(void* base, uint64_t bytes) {
  if (!facts_.zero_copy_tx) return uint32_t{0};
  uint32_t slot = 0;
  while (slot < kAttachedMax && attached_[slot].base != 0) ++slot;
  if (slot == kAttachedMax) return uint32_t{0};  // copied from now on: slower, never wrong
  Attached region{.base = reinterpret_cast<uintptr_t>(base),
                  .end = reinterpret_cast<uintptr_t>(base) + bytes};
  if (traits_.body_path == BodyPath::kMapped) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    if (rte_extmem_register(base, bytes, nullptr, 0, page) != 0 && rte_errno != EEXIST) {
      return error("cannot make %llu bytes at %p known to DPDK: %s; give it page-aligned memory",
                   static_cast<unsigned long long>(bytes), base, rte_strerror(rte_errno));
    }
    if (rte_dev_dma_map(info_.device, base, region.base, bytes) != 0) {
      rte_extmem_unregister(base, bytes);
      log_warning(
          "%llu bytes at %p cannot be mapped for DMA by %s (%s), so what is sent from there is "
          "copied: raise the memlock limit (ulimit -l), or the IOMMU has too few address bits",
          static_cast<unsigned long long>(bytes), base, rte_dev_name(info_.device),
          eal_log_tail().c_str());
      return uint32_t{0};
    }
    region.mapped = true;
  }
  attached_[slot] = region;
  return slot + 1;
}

void EthdevPort::detach(uint32_t key) {
  if (key == 0) return;
  check(key <= kAttachedMax && attached_[key - 1].base != 0,
        "detach of memory that is not attached", key);
  Attached& region = attached_[key - 1];
  // Frames that still wait to be sent point into it.
  for (PortQueue& queue : queues_) {
    const LcoreOfQueue lcore(queue.lcore);
    for (int tries = 0; !flush_unsent(queue) && tries < 1000; ++tries) usleep(10);
    rte_pktmbuf_free_bulk(queue.unsent.mbufs + queue.unsent.first, queue.unsent.count);
    queue.unsent.count = 0;
    rte_eth_tx_done_cleanup(ethdev_, queue.index, 0);
  }
  if (region.mapped) {
    auto* base = reinterpret_cast<void*>(region.base);
    rte_dev_dma_unmap(info_.device, base, region.base, region.end - region.base);
    rte_extmem_unregister(base, region.end - region.base);
  }
  region = {};
}

}  // namespace pinwire
