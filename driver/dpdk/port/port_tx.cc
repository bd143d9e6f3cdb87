// Transmit. Budget: one mempool burst, one head copy, one body copy or attachment, one device
// burst; no allocation but from the queue's mempool cache, no lock, no clock, no system call but
// the device's own doorbell.
#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_memcpy.h>
#include <rte_udp.h>

#include <cstring>

#include "core/base/check.h"
#include "driver/dpdk/port/ethdev_port.h"

namespace pinwire {
namespace {

constexpr uint32_t kInlineCopyMax = 256;

/// Bodies in place need a counter that says when the device is done with them; it lives in the
/// private room of the mbuf that points to the body, so it costs no memory of its own.
void body_released(void*, void*) noexcept {}

void copy_bytes(void* to, const void* from, uint32_t bytes) noexcept {
  if (bytes <= kInlineCopyMax)
    rte_memcpy(to, from, bytes);  // inlined: no call for a header
  else
    std::memcpy(to, from, bytes);
}

/// The device fills the checksums: IPv4's field zero, UDP's holding the pseudo header's sum.
void ask_checksums(const PortQueue& queue, rte_mbuf* mbuf) noexcept {
  if (mbuf->data_len < sizeof(rte_ether_hdr) + sizeof(rte_ipv4_hdr) + sizeof(rte_udp_hdr)) return;
  auto* ethernet = rte_pktmbuf_mtod(mbuf, rte_ether_hdr*);
  auto* ip = reinterpret_cast<rte_ipv4_hdr*>(ethernet + 1);
  if (ethernet->ether_type != rte_cpu_to_be_16(RTE_ETHER_TYPE_IPV4)) return;
  if (ip->version_ihl != RTE_IPV4_VHL_DEF || ip->next_proto_id != IPPROTO_UDP) return;
  mbuf->l2_len = sizeof(rte_ether_hdr);
  mbuf->l3_len = sizeof(rte_ipv4_hdr);
  mbuf->ol_flags |= queue.checksum_flags;
  if ((queue.checksum_flags & RTE_MBUF_F_TX_IP_CKSUM) != 0) ip->hdr_checksum = 0;
  if ((queue.checksum_flags & RTE_MBUF_F_TX_L4_MASK) == RTE_MBUF_F_TX_UDP_CKSUM) {
    reinterpret_cast<rte_udp_hdr*>(ip + 1)->dgram_cksum =
        rte_ipv4_phdr_cksum(ip, queue.checksum_flags);
  }
}

/// Chains a data-less mbuf that points to the body where it lies. False: none is free.
bool attach_body(PortQueue& queue, const TxFrame& frame, rte_mbuf* head) noexcept {
  rte_mbuf* body = rte_pktmbuf_alloc(queue.body_pool);
  if (body == nullptr) [[unlikely]]
    return false;
  auto* shared = static_cast<rte_mbuf_ext_shared_info*>(rte_mbuf_to_priv(body));
  shared->free_cb = body_released;
  shared->fcb_opaque = nullptr;
  rte_mbuf_ext_refcnt_set(shared, 1);
  auto* bytes = const_cast<std::byte*>(frame.body);  // the device only reads
  rte_pktmbuf_attach_extbuf(body, bytes, reinterpret_cast<uintptr_t>(bytes),
                            static_cast<uint16_t>(frame.body_bytes), shared);
  body->data_len = static_cast<uint16_t>(frame.body_bytes);
  body->pkt_len = frame.body_bytes;
  head->next = body;
  head->nb_segs = 2;
  head->pkt_len += frame.body_bytes;
  return true;
}

/// Returns how many bytes the head takes in the buffer.
uint32_t copy_head(const PortQueue& queue, const TxFrame& frame, rte_mbuf* mbuf) noexcept {
  auto* data = rte_pktmbuf_mtod(mbuf, std::byte*);
  if (queue.vlan == 0) [[likely]] {
    copy_bytes(data, frame.head, frame.head_bytes);
    return frame.head_bytes;
  }
  if (queue.inserts_vlan) {
    mbuf->vlan_tci = queue.vlan;
    mbuf->ol_flags |= RTE_MBUF_F_TX_VLAN;
    copy_bytes(data, frame.head, frame.head_bytes);
    return frame.head_bytes;
  }
  constexpr uint32_t kAddressesBytes = 2 * RTE_ETHER_ADDR_LEN;
  const rte_be16_t tag[2] = {rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN), rte_cpu_to_be_16(queue.vlan)};
  std::memcpy(data, frame.head, kAddressesBytes);
  std::memcpy(data + kAddressesBytes, tag, sizeof tag);
  std::memcpy(data + kAddressesBytes + sizeof tag, frame.head + kAddressesBytes,
              frame.head_bytes - kAddressesBytes);
  return frame.head_bytes + static_cast<uint32_t>(sizeof tag);
}

}  // namespace

bool flush_unsent(PortQueue& queue) noexcept {
  MbufBacklog& unsent = queue.unsent;
  if (unsent.count == 0) [[likely]]
    return true;
  const uint16_t sent = rte_eth_tx_burst(queue.ethdev, queue.index, unsent.mbufs + unsent.first,
                                         static_cast<uint16_t>(unsent.count));
  unsent.first += sent;
  unsent.count -= sent;
  return unsent.count == 0;
}

bool EthdevPort::attachable(const PortQueue& queue, const TxFrame& frame) const noexcept {
  if (frame.body_key == 0 || frame.body_bytes <= queue.copy_bytes_max) return false;
  dcheck(frame.body_key <= kAttachedMax, "body key out of range", frame.body_key);
  const Attached& region = attached_[frame.body_key - 1];
  const auto first = reinterpret_cast<uintptr_t>(frame.body);
  return inside(first, frame.body_bytes, region.base, region.end - region.base) &&
         region.base != 0 && !region.is_lingering;
}

uint32_t EthdevPort::build(PortQueue& queue, std::span<const TxFrame> frames,
                           rte_mbuf** mbufs) noexcept {
  const auto wanted = static_cast<uint32_t>(frames.size());
  if (rte_pktmbuf_alloc_bulk(queue.pool, mbufs, wanted) != 0) [[unlikely]]
    return 0;
  for (uint32_t i = 0; i < wanted; ++i) {
    const TxFrame& frame = frames[i];
    rte_mbuf* mbuf = mbufs[i];
    dcheck(frame.head_bytes + frame.body_bytes <= queue.frame_bytes_max,
           "frame longer than the port carries", frame.head_bytes, frame.body_bytes,
           queue.frame_bytes_max);
    auto* data = rte_pktmbuf_mtod(mbuf, std::byte*);
    const uint32_t head_bytes = copy_head(queue, frame, mbuf);
    mbuf->data_len = static_cast<uint16_t>(head_bytes);
    mbuf->pkt_len = head_bytes;
    if (frame.body_bytes != 0) {
      if (attachable(queue, frame) && attach_body(queue, frame, mbuf)) {
        ++queue.counters.tx_attached_frames;
        queue.counters.tx_attached_bytes += frame.body_bytes;
      } else {
        copy_bytes(data + head_bytes, frame.body, frame.body_bytes);
        mbuf->data_len = static_cast<uint16_t>(head_bytes + frame.body_bytes);
        mbuf->pkt_len = mbuf->data_len;
        queue.counters.tx_copied_body_bytes += frame.body_bytes;
      }
    }
    if (queue.checksum_flags != 0) ask_checksums(queue, mbuf);
    queue.counters.tx_bytes += mbuf->pkt_len;
  }
  return wanted;
}

uint32_t EthdevPort::tx(uint32_t index, std::span<const TxFrame> frames) noexcept {
  dcheck(index < queues_.size(), "no such queue", index);
  PortQueue& queue = queues_[index];
  const DeviceTurn turn(queue);
  uint32_t taken = 0;
  while (taken < frames.size() && flush_unsent(queue)) {
    const auto left = frames.subspan(taken);
    rte_mbuf** mbufs = queue.unsent.mbufs;  // empty: what the device doesn't take simply stays here
    const uint32_t built =
        build(queue, left.first(left.size() < kPortBurst ? left.size() : kPortBurst), mbufs);
    if (built == 0) [[unlikely]] {
      // The pool is in the device's transmit ring: have it give back what it has sent.
      rte_eth_tx_done_cleanup(queue.ethdev, queue.index, 0);
      break;
    }
    const uint16_t sent =
        rte_eth_tx_burst(queue.ethdev, queue.index, mbufs, static_cast<uint16_t>(built));
    queue.unsent.first = sent;
    queue.unsent.count = built - sent;
    taken += built;
  }
  queue.counters.tx_frames += taken;
  queue.counters.tx_refused_calls += taken < frames.size();
  return taken;
}

}  // namespace pinwire
