// Control plane of a port: configure, start, close.
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_flow.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "driver/dpdk/eal/eal.h"
#include "driver/dpdk/eal/eal_log.h"
#include "driver/dpdk/eal/interrupt_thread.h"
#include "driver/dpdk/port/device_traits.h"
#include "driver/dpdk/port/ethdev_port.h"
#include "driver/dpdk/port/port_memory.h"
#include "driver/dpdk/port/port_steer.h"
#include "driver/dpdk/port/vhost_notice.h"

namespace pinwire {
namespace {

bool all_zero(const MacAddress& mac) { return mac == MacAddress{}; }

}  // namespace

Result<std::unique_ptr<DpdkPort>> open_dpdk_port(const DpdkPortOptions& options) {
  auto port = std::make_unique<EthdevPort>(options);
  const QuietThreads quiet;  // PMDs start threads when they probe and when they start
  eal_log_clear();
  if (Status opened = port->open(); !opened) return opened.error();
  return std::unique_ptr<DpdkPort>(std::move(port));
}

Status EthdevPort::open() {
  for (auto step : {&EthdevPort::find_device, &EthdevPort::learn_device,
                    &EthdevPort::isolate_without_queues, &EthdevPort::configure,
                    &EthdevPort::isolate_with_queues, &EthdevPort::start, &EthdevPort::steer}) {
    if (Status done = (this->*step)(); !done) return done;
  }
  settle_facts();
  return success();
}

Status EthdevPort::isolate_without_queues() {
  return traits_.isolates_with_queues ? success() : isolate();
}

Status EthdevPort::isolate_with_queues() {
  return traits_.isolates_with_queues ? isolate() : success();
}

/// A device that the kernel uses, too, gives DPDK all that arrives unless it is told before it is
/// started that rules say what does: the node would lose its network, and its user the node.
Status EthdevPort::isolate() {
  if (!traits_.shares_with_kernel) return success();
  rte_flow_error problem{};
  isolated_ = rte_flow_isolate(ethdev_, 1, &problem) == 0;
  if (isolated_) return success();
  return error(
      "%s shares its device with the kernel, but cannot leave it the kernel's traffic (%s): take a "
      "virtual function of it, or a port that nobody needs",
      describe().c_str(), problem.message != nullptr ? problem.message : "no flow isolation");
}

Status EthdevPort::steer() {
  const bool by_rules = isolated_ || (!traits_.paired_queues && facts_.queues > 1);
  if (!by_rules || steer_udp_ports(ethdev_, options_.udp_port, static_cast<uint16_t>(facts_.queues),
                                   options_.vlan)) {
    return success();
  }
  facts_.queues = 1;  // the device cannot be told which queue a lane's frames belong to
  if (!isolated_) return success();
  return error(
      "%s shares its device with the kernel, but refuses a rule for UDP port %u (%s): take a "
      "virtual function of it, or a port that nobody needs",
      describe().c_str(), options_.udp_port, eal_log_tail().c_str());
}

void EthdevPort::choose_offloads(rte_eth_conf& conf) noexcept {
  const uint64_t checksums = (facts_.ip_checksum_offload ? RTE_ETH_TX_OFFLOAD_IPV4_CKSUM : 0) |
                             (facts_.udp_checksum_offload ? RTE_ETH_TX_OFFLOAD_UDP_CKSUM : 0);
  conf.txmode.offloads = checksums | (facts_.zero_copy_tx ? RTE_ETH_TX_OFFLOAD_MULTI_SEGS : 0);
  conf.rxmode.offloads = checksums;
  if (options_.vlan == 0) return;
  // Software devices insert a tag in tx_prepare() or not at all; here it costs the same.
  inserts_vlan_ = traits_.body_path == BodyPath::kMapped &&
                  (info_.tx_offload_capa & RTE_ETH_TX_OFFLOAD_VLAN_INSERT) != 0;
  if (inserts_vlan_) conf.txmode.offloads |= RTE_ETH_TX_OFFLOAD_VLAN_INSERT;
  conf.rxmode.offloads |= info_.rx_offload_capa & RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
}

Status EthdevPort::configure() {
  static_assert(RTE_ETH_RX_OFFLOAD_IPV4_CKSUM == RTE_ETH_TX_OFFLOAD_IPV4_CKSUM &&
                RTE_ETH_RX_OFFLOAD_UDP_CKSUM ==
                    RTE_ETH_TX_OFFLOAD_UDP_CKSUM);  // learn_device ands the two
  rte_eth_conf conf{};
  choose_offloads(conf);
  if (traits_.takes_mtu) conf.rxmode.mtu = facts_.frame_bytes_max - kEthernetBytes;
  conf.intr_conf.rxq = options_.interrupts && traits_.wakes;
  const auto queues = static_cast<uint16_t>(facts_.queues);
  int failed = rte_eth_dev_configure(ethdev_, queues, queues, &conf);
  if (failed != 0 && conf.intr_conf.rxq != 0) {
    conf.intr_conf.rxq = 0;
    failed = rte_eth_dev_configure(ethdev_, queues, queues, &conf);
  }
  if (failed != 0) {
    return error(
        "%s refuses %u queues of %u-byte frames: %s (%s); ask for fewer lanes or set "
        "GASNET_DPDK_MTU",
        describe().c_str(), facts_.queues, facts_.frame_bytes_max, strerror(-failed),
        eal_log_tail().c_str());
  }
  configured_ = true;
  rx_ring_frames_ = tx_ring_frames_ = static_cast<uint16_t>(options_.ring_frames);
  rte_eth_dev_adjust_nb_rx_tx_desc(ethdev_, &rx_ring_frames_, &tx_ring_frames_);
  first_lcore_ = take_lcores(queues);
  memory_node_ = rte_eth_dev_socket_id(ethdev_);
  if (first_lcore_ == 0) return error("more than %d DPDK queues in one process", RTE_MAX_LCORE - 1);
  queues_ = std::vector<PortQueue>(queues);
  for (uint16_t q = 0; q < queues; ++q) {
    if (Status made = make_queue(q); !made) return made;
  }
  return success();
}

Status EthdevPort::make_queue(uint16_t index) {
  PortQueue& queue = queues_[index];
  queue.ethdev = ethdev_;
  queue.index = index;
  queue.lcore = first_lcore_ + index;
  queue.frame_bytes_max = facts_.frame_bytes_max;
  queue.copy_bytes_max = options_.copy_bytes_max;
  queue.vlan = options_.vlan;
  queue.inserts_vlan = inserts_vlan_;
  queue.vouched = facts_.memory_medium;
  queue.burst_costs = traits_.burst_costs;
  queue.calls_kernel = traits_.calls_kernel;
  if (facts_.ip_checksum_offload)
    queue.checksum_flags |= RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_IPV4;
  if (facts_.udp_checksum_offload)
    queue.checksum_flags |= RTE_MBUF_F_TX_UDP_CKSUM | RTE_MBUF_F_TX_IPV4;
  const uint32_t least = std::max(facts_.frame_bytes_max, traits_.buffer_bytes_min);
  const uint32_t frames = pool_frames(rx_ring_frames_, tx_ring_frames_, options_.rx_buffers);
  queue.pool = make_pool("rx", frames, 0,
                         RTE_PKTMBUF_HEADROOM + buffer_bytes(least, traits_.power_of_two_buffers),
                         memory_node_);
  if (facts_.zero_copy_tx) {
    constexpr uint16_t kPrivateBytes =
        RTE_ALIGN(sizeof(rte_mbuf_ext_shared_info), RTE_MBUF_PRIV_ALIGN);
    queue.body_pool = make_pool("body", tx_ring_frames_ + 2 * kMempoolCache + 2 * kPortBurst,
                                kPrivateBytes, 0, memory_node_);
  }
  if (queue.pool == nullptr || (facts_.zero_copy_tx && queue.body_pool == nullptr)) {
    return error(
        "no memory for %u frames of %u bytes: %s; give EAL more (GASNET_DPDK_MEMORY_MB, or -m in "
        "GASNET_EAL_ARGS), or free huge pages",
        frames, facts_.frame_bytes_max, rte_strerror(rte_errno));
  }
  const auto node = static_cast<unsigned>(memory_node_);
  int failed = rte_eth_rx_queue_setup(ethdev_, index, rx_ring_frames_, node, nullptr, queue.pool);
  if (failed == 0) failed = rte_eth_tx_queue_setup(ethdev_, index, tx_ring_frames_, node, nullptr);
  if (failed == 0) return success();
  return error("%s refuses queue %u with %u descriptors: %s (%s)", describe().c_str(), index,
               rx_ring_frames_, strerror(-failed), eal_log_tail().c_str());
}

Status EthdevPort::start() {
  if (traits_.takes_mtu) {
    const uint32_t mtu = facts_.frame_bytes_max - kEthernetBytes;
    const int failed = rte_eth_dev_set_mtu(ethdev_, static_cast<uint16_t>(mtu));
    if (failed != 0 && failed != -ENOTSUP) {
      return error("%s refuses an MTU of %u bytes: %s; set GASNET_DPDK_MTU", describe().c_str(),
                   mtu, strerror(-failed));
    }
  }
  const int failed = rte_eth_dev_start(ethdev_);
  // memif's client fails to start while its server does not listen yet: wait_link_up() tries again.
  if (failed != 0 && !traits_.restarts_link) {
    return error("%s does not start: %s (%s)", describe().c_str(), strerror(-failed),
                 eal_log_tail().c_str());
  }
  started_ = failed == 0;
  if (std::string_view(info_.driver_name) == "net_vhost")
    notice_vhost_socket(std::string(device_argument(device_arguments(info_), "iface")));
  return success();
}

void EthdevPort::settle_facts() {
  rte_ether_addr address{};
  if (!all_zero(options_.mac)) {
    std::memcpy(address.addr_bytes, options_.mac.data(), options_.mac.size());
    const bool taken = rte_eth_dev_default_mac_addr_set(ethdev_, &address) == 0 || traits_.any_mac;
    if (!taken) rte_eth_macaddr_get(ethdev_, &address);
  } else {
    rte_eth_macaddr_get(ethdev_, &address);
  }
  std::memcpy(facts_.mac.data(), address.addr_bytes, facts_.mac.size());
  facts_.tx_burst_max = kPortBurst;
  facts_.rx_buffers = options_.rx_buffers;
  facts_.event_fd = options_.interrupts && traits_.wakes && open_wake_fds();
}

EthdevPort::~EthdevPort() {
  const QuietThreads quiet;
  std::optional<InterruptsHeld> held;
  if (traits_.hears_peer_leave) held.emplace();
  for (PortQueue& queue : queues_) {
    const LcoreOfQueue lcore(queue.lcore);
    rte_pktmbuf_free_bulk(queue.unsent.mbufs + queue.unsent.first, queue.unsent.count);
    rte_pktmbuf_free_bulk(queue.found.mbufs + queue.found.first, queue.found.count);
    if (queue.armed) stop_interrupts(queue);
    if (queue.wake_fd >= 0) ::close(queue.wake_fd);
    if (queue.poke_fd >= 0) ::close(queue.poke_fd);
  }
  if (started_) rte_eth_dev_stop(ethdev_);
  for (uint32_t key = 1; key <= kAttachedMax; ++key) {
    if (attached_[key - 1].base != 0) forget(attached_[key - 1]);  // the device has stopped
  }
  if (ethdev_ < RTE_MAX_ETHPORTS) rte_eth_dev_close(ethdev_);
  if (made_vdev_) rte_eal_hotplug_remove("vdev", options_.device.c_str());
  for (PortQueue& queue : queues_) {
    rte_mempool_free(queue.pool);
    rte_mempool_free(queue.body_pool);
  }
  give_lcores(first_lcore_, static_cast<uint32_t>(queues_.size()));
}

}  // namespace pinwire
