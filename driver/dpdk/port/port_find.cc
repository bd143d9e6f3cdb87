// Which device: find it or make it, and learn what it can do.
#include <net/if.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "driver/dpdk/eal/eal_log.h"
#include "driver/dpdk/port/ethdev_port.h"

namespace pinwire {
namespace {

constexpr uint32_t kProbeStepUs = 20'000;

uint32_t interface_mtu(uint32_t interface) {
  ifreq request{};
  if (interface == 0 || if_indextoname(interface, request.ifr_name) == nullptr) return 0;
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return 0;
  const bool known = ioctl(fd, SIOCGIFMTU, &request) == 0;
  close(fd);
  return known ? static_cast<uint32_t>(request.ifr_mtu) : 0;
}

/// As ethdev itself reckons: drivers that leave max_mtu open mean what max_rx_pktlen says.
uint32_t mtu_max(const rte_eth_dev_info& info) {
  constexpr uint32_t kOverhead = RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
  if (info.max_mtu != UINT16_MAX || info.max_rx_pktlen <= kOverhead) return info.max_mtu;
  return std::min<uint32_t>(info.max_mtu, info.max_rx_pktlen - kOverhead);
}

}  // namespace

std::string_view device_arguments(const rte_eth_dev_info& info) {
  const rte_devargs* arguments = info.device != nullptr ? rte_dev_devargs(info.device) : nullptr;
  return arguments != nullptr && arguments->args != nullptr ? arguments->args : "";
}

bool EthdevPort::peer_has_failed() const noexcept {
  return !options_.failure_path.empty() && access(options_.failure_path.c_str(), F_OK) == 0;
}

Status EthdevPort::find_device() {
  if (!options_.make_vdev) {
    if (options_.device.empty())
      ethdev_ = static_cast<uint16_t>(rte_eth_find_next_owned_by(0, RTE_ETH_DEV_NO_OWNER));
    else if (rte_eth_dev_get_port_by_name(options_.device.c_str(), &ethdev_) != 0)
      ethdev_ = RTE_MAX_ETHPORTS;
    if (ethdev_ < RTE_MAX_ETHPORTS) return success();
    const std::string tail = eal_log_tail();
    return error(
        "DPDK found no network device%s%s%s%s; name one with GASNET_DPDK_PCI or --vdev in "
        "GASNET_EAL_ARGS, and bind a physical one to vfio-pci first",
        options_.device.empty() ? "" : " called ", options_.device.c_str(),
        tail.empty() ? "" : ": ", tail.c_str());
  }
  // virtio_user connects to a socket that its peer, on its own schedule, makes.
  const std::string path(device_argument(options_.device_arguments, "path"));
  for (uint64_t waited_us = 0;; waited_us += kProbeStepUs) {
    const bool there = path.empty() || access(path.c_str(), F_OK) == 0;
    if (there && rte_eal_hotplug_add("vdev", options_.device.c_str(),
                                     options_.device_arguments.c_str()) == 0)
      break;
    if (peer_has_failed()) return error("%s", kPeerHasFailed);
    if (path.empty() || waited_us >= options_.probe_timeout_ms * uint64_t{1000}) {
      return error("DPDK could not make %s with \"%s\"%s: %s", options_.device.c_str(),
                   options_.device_arguments.c_str(),
                   there ? "" : ": its socket never appeared; is the peer or the switch running?",
                   eal_log_tail().c_str());
    }
    usleep(kProbeStepUs);
  }
  made_vdev_ = true;
  if (rte_eth_dev_get_port_by_name(options_.device.c_str(), &ethdev_) == 0) return success();
  return error("DPDK made %s but offers no Ethernet device for it: %s", options_.device.c_str(),
               eal_log_tail().c_str());
}

Status EthdevPort::learn_device() {
  if (const int failed = rte_eth_dev_info_get(ethdev_, &info_); failed != 0) {
    return error("device %u does not describe itself: %s", ethdev_, strerror(-failed));
  }
  traits_ = device_traits(
      {.driver = info_.driver_name,
       .arguments = device_arguments(info_),
       .mtu_max = mtu_max(info_),
       .interface_mtu = interface_mtu(info_.if_index),
       .multi_segment_tx = (info_.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0,
       .iova_is_va = rte_eal_iova_mode() == RTE_IOVA_VA});
  if (options_.body_path) traits_.body_path = *options_.body_path;
  const uint32_t tag_bytes = options_.vlan != 0 ? RTE_VLAN_HLEN : 0;
  facts_.frame_bytes_max = std::min(options_.frame_bytes, traits_.frame_bytes_max - tag_bytes);
  const uint32_t queues_max = std::min<uint32_t>(info_.max_rx_queues, info_.max_tx_queues);
  facts_.queues = std::max(1u, std::min(options_.queues, queues_max));
  facts_.zero_copy_tx = traits_.body_path != BodyPath::kCopy;
  facts_.memory_medium = options_.memory_medium;
  facts_.inside_host = options_.inside_host;
  if (traits_.body_path == BodyPath::kMapped) {  // a NIC, not a software device
    const uint64_t both = info_.tx_offload_capa & info_.rx_offload_capa;
    facts_.ip_checksum_offload = (both & RTE_ETH_TX_OFFLOAD_IPV4_CKSUM) != 0;
    facts_.udp_checksum_offload = (both & RTE_ETH_TX_OFFLOAD_UDP_CKSUM) != 0;
  }
  return success();
}

}  // namespace pinwire
