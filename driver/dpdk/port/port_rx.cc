// Receive. Budget: one device burst and, per frame, one look at its descriptor; the payload is not
// touched. Frames that a driver chained or misaligned take the cold way.
#include <rte_ethdev.h>
#include <rte_prefetch.h>

#include <algorithm>
#include <cstring>

#include "core/base/bits.h"
#include "core/base/check.h"
#include "driver/dpdk/port/ethdev_port.h"

namespace pinwire {
namespace {

constexpr uint64_t kChecksumMask = RTE_MBUF_F_RX_IP_CKSUM_MASK | RTE_MBUF_F_RX_L4_CKSUM_MASK;
constexpr uint64_t kChecksumGood = RTE_MBUF_F_RX_IP_CKSUM_GOOD | RTE_MBUF_F_RX_L4_CKSUM_GOOD;

bool plain(const rte_mbuf* mbuf) noexcept {
  return mbuf->nb_segs == 1 &&
         (reinterpret_cast<uintptr_t>(mbuf->buf_addr) + mbuf->data_off) % kRxAlignBytes == 0;
}

/// One contiguous, aligned copy of a frame; frees the original. nullptr: it does not fit or no
/// buffer is free.
[[gnu::cold]] rte_mbuf* repair(PortQueue& queue, rte_mbuf* mbuf) noexcept {
  const bool chained = mbuf->nb_segs != 1;
  rte_mbuf* copy = rte_pktmbuf_alloc(queue.pool);
  if (copy != nullptr && mbuf->pkt_len <= rte_pktmbuf_tailroom(copy)) {
    uint32_t at = 0;
    for (const rte_mbuf* part = mbuf; part != nullptr; part = part->next) {
      std::memcpy(rte_pktmbuf_mtod_offset(copy, std::byte*, at),
                  rte_pktmbuf_mtod(part, const std::byte*), part->data_len);
      at += part->data_len;
    }
    copy->data_len = static_cast<uint16_t>(at);
    copy->pkt_len = at;
    copy->ol_flags = mbuf->ol_flags & kChecksumMask;
    ++(chained ? queue.counters.rx_joined_frames : queue.counters.rx_realigned_frames);
  } else {
    rte_pktmbuf_free(copy);
    copy = nullptr;
    ++queue.counters.rx_dropped_frames;
  }
  rte_pktmbuf_free(mbuf);
  return copy;
}

/// The frame without its tag; nullptr, and freed: it is not of the port's VLAN. One that the device
/// did not strip is misaligned then, which costs it a copy (repair()).
rte_mbuf* untag(PortQueue& queue, rte_mbuf* mbuf) noexcept {
  constexpr uint16_t kIdentifier = 0x0fff;
  if ((mbuf->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0) {
    if ((mbuf->vlan_tci & kIdentifier) == queue.vlan) return mbuf;
  } else if (mbuf->data_len >= sizeof(rte_ether_hdr) + sizeof(rte_vlan_hdr)) {
    auto* ethernet = rte_pktmbuf_mtod(mbuf, rte_ether_hdr*);
    const auto* tag = reinterpret_cast<const rte_vlan_hdr*>(ethernet + 1);
    if (ethernet->ether_type == rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN) &&
        (rte_be_to_cpu_16(tag->vlan_tci) & kIdentifier) == queue.vlan) {
      std::memmove(rte_pktmbuf_adj(mbuf, sizeof(rte_vlan_hdr)), ethernet, 2 * RTE_ETHER_ADDR_LEN);
      return mbuf;
    }
  }
  ++queue.counters.rx_other_vlan_frames;
  rte_pktmbuf_free(mbuf);
  return nullptr;
}

uint32_t hand_out(PortQueue& queue, rte_mbuf** mbufs, uint32_t count, RxFrame* frames) noexcept {
  uint32_t handed = 0;
  for (uint32_t i = 0; i < count; ++i) {
    rte_mbuf* mbuf = mbufs[i];
    if (i + 1 < count) rte_prefetch0(rte_pktmbuf_mtod(mbufs[i + 1], void*));
    if (queue.vlan != 0) [[unlikely]] {
      mbuf = untag(queue, mbuf);
      if (mbuf == nullptr) continue;
    }
    if (!plain(mbuf)) [[unlikely]] {
      mbuf = repair(queue, mbuf);
      if (mbuf == nullptr) continue;
    }
    frames[handed++] = {rte_pktmbuf_mtod(mbuf, std::byte*), mbuf->data_len,
                        queue.vouched || (mbuf->ol_flags & kChecksumMask) == kChecksumGood, mbuf};
    queue.counters.rx_bytes += mbuf->data_len;
  }
  queue.counters.rx_frames += handed;
  return handed;
}

/// Twice what came last: an idle poll stays cheap, a stream is taken in whole bursts.
uint16_t burst_after(uint32_t found) noexcept {
  constexpr uint32_t kBurstMin = 4;
  return static_cast<uint16_t>(std::clamp(align_up(2 * found, kBurstMin), kBurstMin, kPortBurst));
}

/// The burst that arm() received comes first, in order.
[[gnu::cold]] uint32_t hand_out_found(PortQueue& queue, std::span<RxFrame> frames) noexcept {
  MbufBacklog& found = queue.found;
  const auto room = static_cast<uint32_t>(frames.size());
  const uint32_t count = found.count < room ? found.count : room;
  const uint32_t handed = hand_out(queue, found.mbufs + found.first, count, frames.data());
  found.first += count;
  found.count -= count;
  return handed;
}

}  // namespace

uint32_t receive_ahead(PortQueue& queue) noexcept {
  if (queue.found.count == 0) {
    queue.found.first = 0;
    queue.found.count = rte_eth_rx_burst(queue.ethdev, queue.index, queue.found.mbufs, kPortBurst);
  }
  return queue.found.count;
}

uint32_t EthdevPort::rx(uint32_t index, std::span<RxFrame> frames) noexcept {
  dcheck(index < queues_.size(), "no such queue", index);
  PortQueue& queue = queues_[index];
  const DeviceTurn turn(queue);
  flush_unsent(queue);
  if (queue.found.count != 0) [[unlikely]]
    return hand_out_found(queue, frames);
  uint32_t handed = 0, found = 0;
  uint16_t burst = queue.next_burst;
  while (handed < frames.size()) {
    rte_mbuf* mbufs[kPortBurst];
    const size_t room = frames.size() - handed;
    const auto wanted = static_cast<uint16_t>(room < burst ? room : burst);
    const uint16_t got = rte_eth_rx_burst(queue.ethdev, queue.index, mbufs, wanted);
    handed += hand_out(queue, mbufs, got, frames.data() + handed);
    found += got;
    if (got < wanted) break;
    burst = kPortBurst;
  }
  if (queue.burst_costs) queue.next_burst = burst_after(found);
  if (queue.armed && found != 0) [[unlikely]]
    wake_sleeper(queue);
  return handed;
}

void EthdevPort::release(uint32_t index, std::span<const RxFrame> frames) noexcept {
  dcheck(index < queues_.size(), "no such queue", index);
  PortQueue& queue = queues_[index];
  const LcoreOfQueue lcore(queue.lcore);
  while (!frames.empty()) {
    void* free[kPortBurst];
    uint32_t count = 0;
    const size_t step = frames.size() < kPortBurst ? frames.size() : kPortBurst;
    for (const RxFrame& frame : frames.first(step)) {
      rte_mbuf* mbuf = rte_pktmbuf_prefree_seg(static_cast<rte_mbuf*>(frame.buffer));
      if (mbuf == nullptr) continue;
      if (mbuf->pool == queue.pool) [[likely]]
        free[count++] = mbuf;
      else
        rte_mbuf_raw_free(mbuf);  // net_ring hands over its peer's
    }
    if (count != 0) rte_mempool_put_bulk(queue.pool, free, count);
    frames = frames.subspan(step);
  }
}

/// A buffer may be a part of the device's own memory, with another frame behind it.
bool EthdevPort::widen(uint32_t index, RxFrame& frame, uint32_t bytes) noexcept {
  dcheck(index < queues_.size(), "no such queue", index);
  dcheck(bytes <= facts_.frame_bytes_max, "a frame wider than the port's", bytes);
  PortQueue& queue = queues_[index];
  const LcoreOfQueue lcore(queue.lcore);
  auto* mbuf = static_cast<rte_mbuf*>(frame.buffer);
  const bool is_own = RTE_MBUF_DIRECT(mbuf) && rte_mbuf_refcnt_read(mbuf) == 1;
  if (is_own && mbuf->data_len + uint32_t{rte_pktmbuf_tailroom(mbuf)} >= bytes) return true;
  rte_mbuf* wide = rte_pktmbuf_alloc(queue.pool);
  if (wide == nullptr || rte_pktmbuf_tailroom(wide) < bytes) {
    rte_pktmbuf_free(wide);
    return false;
  }
  rte_pktmbuf_free(mbuf);
  frame.data = rte_pktmbuf_mtod(wide, std::byte*);
  frame.buffer = wide;
  return true;
}

}  // namespace pinwire
