// Reports of a port while it lives: its link, its counters, its description.
#include <rte_ethdev.h>
#include <unistd.h>

#include <cstdio>

#include "driver/dpdk/eal/address_space.h"
#include "driver/dpdk/eal/eal.h"
#include "driver/dpdk/eal/eal_log.h"
#include "driver/dpdk/port/ethdev_port.h"

namespace pinwire {
namespace {

constexpr uint32_t kLinkStepUs = 1'000;
constexpr uint32_t kRestartEveryMs = 200;

}  // namespace

Status EthdevPort::wait_link_up(uint32_t timeout_ms) {
  rte_eth_link link{};
  const bool may_lack_space = address_space_is_limited();
  for (uint64_t waited_us = 0; waited_us <= timeout_ms * uint64_t{1000}; waited_us += kLinkStepUs) {
    if (rte_eth_link_get_nowait(ethdev_, &link) == 0 && link.link_status == RTE_ETH_LINK_UP) {
      const bool believable =
          traits_.body_path == BodyPath::kMapped && link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN;
      facts_.speed_bits_per_s = believable ? uint64_t{link.link_speed} * 1'000'000 : 0;
      return success();
    }
    if (traits_.restarts_link && waited_us % (kRestartEveryMs * uint64_t{1000}) == 0 &&
        waited_us != 0) {
      const QuietThreads quiet;
      if (started_) rte_eth_dev_stop(ethdev_);
      started_ = rte_eth_dev_start(ethdev_) == 0;
    }
    if (peer_has_failed()) return error("%s", kPeerHasFailed);
    if (const auto log = may_lack_space ? eal_log_tail() : ""; lacked_address_space(log)) {
      return error("%s: the peer's memory cannot be mapped; %s (%s)", describe().c_str(),
                   kRaiseAddressSpace, log.c_str());
    }
    usleep(kLinkStepUs);
  }
  return error("%s: no link after %u ms; is the peer running, the cable in, the switch up? (%s)",
               describe().c_str(), timeout_ms, eal_log_tail().c_str());
}

DpdkPortCounters EthdevPort::counters() const noexcept {
  DpdkPortCounters sum;
  for (const PortQueue& queue : queues_) {
    const DpdkPortCounters& one = queue.counters;
    sum.tx_frames += one.tx_frames;
    sum.tx_bytes += one.tx_bytes;
    sum.tx_attached_frames += one.tx_attached_frames;
    sum.tx_attached_bytes += one.tx_attached_bytes;
    sum.tx_copied_body_bytes += one.tx_copied_body_bytes;
    sum.tx_refused_calls += one.tx_refused_calls;
    sum.rx_frames += one.rx_frames;
    sum.rx_bytes += one.rx_bytes;
    sum.rx_realigned_frames += one.rx_realigned_frames;
    sum.rx_joined_frames += one.rx_joined_frames;
    sum.rx_dropped_frames += one.rx_dropped_frames;
    sum.rx_other_vlan_frames += one.rx_other_vlan_frames;
    sum.wakeups_armed += one.wakeups_armed;
  }
  sum.unmapped_regions += unmapped_regions_;
  sum.lingering_regions += lingering_regions_;
  return sum;
}

std::string EthdevPort::describe() const {
  char name[RTE_ETH_NAME_MAX_LEN] = "?";
  if (ethdev_ < RTE_MAX_ETHPORTS) rte_eth_dev_get_name_by_port(ethdev_, name);
  const int node = ethdev_ < RTE_MAX_ETHPORTS ? rte_eth_dev_socket_id(ethdev_) : SOCKET_ID_ANY;
  std::string place;
  if (node != SOCKET_ID_ANY) {
    place = std::string(memory_node_ == node ? ", memory" : ", no memory left") +
            " on its NUMA node " + std::to_string(node);
  }
  char text[320];
  std::snprintf(text, sizeof text, "%s (%s), %u queue%s of %u frames of %u bytes, %s, %s%s", name,
                info_.driver_name != nullptr ? info_.driver_name : "?", facts_.queues,
                facts_.queues == 1 ? "" : "s", rx_ring_frames_, facts_.frame_bytes_max,
                facts_.zero_copy_tx ? "zero-copy transmit" : "copying transmit",
                facts_.event_fd ? "interrupts" : "polling only", place.c_str());
  return text;
}

}  // namespace pinwire
