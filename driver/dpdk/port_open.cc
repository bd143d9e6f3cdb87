// Control plane of a port: find or make the device, learn what it can do, configure, start, close.
#include <net/if.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mempool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bitset>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "core/base/check.h"
#include "driver/dpdk/eal.h"
#include "driver/dpdk/eal_log.h"
#include "driver/dpdk/ethdev_port.h"
#include "driver/dpdk/port_steer.h"

namespace pinwire {
namespace {

constexpr uint32_t kEthernetBytes = 14;
constexpr auto kAnySocket = static_cast<unsigned>(SOCKET_ID_ANY);
constexpr uint32_t kBufferStepBytes = 1024;  // several NICs round a buffer's size down to this
constexpr uint32_t kFrameTailBytes =
    12;  // FCS and two VLAN tags, which some NICs insist on room for
constexpr uint64_t kMbufOverheadBytes = 64 + 128 + RTE_PKTMBUF_HEADROOM + 64;
constexpr uint64_t kDeviceMemoryBytes = uint64_t{24} << 20;
constexpr uint32_t kProbeStepUs = 20'000;
constexpr uint32_t kLinkStepUs = 1'000;
constexpr uint32_t kRestartEveryMs = 200;

/// Mempool caches are numbered like lcores; each queue of each port takes a number of its own.
std::mutex lcore_mutex;
std::bitset<RTE_MAX_LCORE> lcores_taken{1};  // 0 is the thread that started EAL

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

uint32_t buffer_bytes(uint32_t frame_bytes) {
  return round_up(frame_bytes + kFrameTailBytes, kBufferStepBytes);
}

uint32_t pool_frames(uint32_t rx_ring, uint32_t tx_ring, uint32_t rx_buffers) {
  return rx_ring + tx_ring + rx_buffers + 2 * kMempoolCache + 4 * kPortBurst;
}

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

rte_mempool* make_pool(const char* kind, uint32_t frames, uint16_t private_bytes,
                       uint32_t data_bytes) {
  static std::atomic<uint32_t> serial{0};
  char name[RTE_MEMPOOL_NAMESIZE];
  std::snprintf(name, sizeof name, "pw_%s_%u", kind, serial++);
  rte_mempool* pool = rte_pktmbuf_pool_create(name, frames, kMempoolCache, private_bytes,
                                              static_cast<uint16_t>(data_bytes), SOCKET_ID_ANY);
  if (pool != nullptr) populate(pool);
  return pool;
}

bool all_zero(const MacAddress& mac) { return mac == MacAddress{}; }

}  // namespace

uint64_t dpdk_port_memory_bytes(const DpdkPortOptions& options) {
  const uint64_t frames = pool_frames(options.ring_frames, options.ring_frames, options.rx_buffers);
  const uint64_t frame = buffer_bytes(options.frame_bytes) + kMbufOverheadBytes;
  return kDeviceMemoryBytes + options.queues * frames * (frame + kMbufOverheadBytes);
}

Result<std::unique_ptr<DpdkPort>> open_dpdk_port(const DpdkPortOptions& options) {
  auto port = std::make_unique<EthdevPort>(options);
  const QuietThreads quiet;  // PMDs start threads when they probe and when they start
  eal_log_clear();
  if (Status opened = port->open(); !opened) return opened.error();
  return std::unique_ptr<DpdkPort>(std::move(port));
}

Status EthdevPort::open() {
  for (auto step : {&EthdevPort::find_device, &EthdevPort::learn_device, &EthdevPort::configure,
                    &EthdevPort::start}) {
    if (Status done = (this->*step)(); !done) return done;
  }
  settle_facts();
  return success();
}

Status EthdevPort::find_device() {
  if (!options_.make_vdev) {
    if (options_.device.empty())
      ethdev_ = static_cast<uint16_t>(rte_eth_find_next_owned_by(0, RTE_ETH_DEV_NO_OWNER));
    else if (rte_eth_dev_get_port_by_name(options_.device.c_str(), &ethdev_) != 0)
      ethdev_ = RTE_MAX_ETHPORTS;
    if (ethdev_ < RTE_MAX_ETHPORTS) return success();
    return error(
        "DPDK found no network device%s%s (%s); name one with GASNET_DPDK_PCI or --vdev in "
        "GASNET_EAL_ARGS, "
        "and bind a physical one to vfio-pci first",
        options_.device.empty() ? "" : " called ", options_.device.c_str(), eal_log_tail().c_str());
  }
  // virtio_user connects to a socket that its peer, on its own schedule, makes.
  const std::string path(device_argument(options_.device_arguments, "path"));
  for (uint64_t waited_us = 0;; waited_us += kProbeStepUs) {
    const bool there = path.empty() || access(path.c_str(), F_OK) == 0;
    if (there && rte_eal_hotplug_add("vdev", options_.device.c_str(),
                                     options_.device_arguments.c_str()) == 0)
      break;
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
  const rte_devargs* arguments = info_.device != nullptr ? rte_dev_devargs(info_.device) : nullptr;
  traits_ = device_traits(
      {.driver = info_.driver_name,
       .arguments = arguments != nullptr && arguments->args != nullptr ? arguments->args : "",
       .mtu_max = mtu_max(info_),
       .interface_mtu = interface_mtu(info_.if_index),
       .multi_segment_tx = (info_.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0,
       .iova_is_va = rte_eal_iova_mode() == RTE_IOVA_VA});
  facts_.frame_bytes_max = std::min(options_.frame_bytes, traits_.frame_bytes_max);
  const uint32_t queues_max = std::min<uint32_t>(info_.max_rx_queues, info_.max_tx_queues);
  facts_.queues = std::max(1u, std::min(options_.queues, queues_max));
  facts_.zero_copy_tx = traits_.body_path != BodyPath::kCopy;
  if (traits_.body_path == BodyPath::kMapped) {  // a NIC, not a software device
    const uint64_t both = info_.tx_offload_capa & info_.rx_offload_capa;
    facts_.ip_checksum_offload = (both & RTE_ETH_TX_OFFLOAD_IPV4_CKSUM) != 0;
    facts_.udp_checksum_offload = (both & RTE_ETH_TX_OFFLOAD_UDP_CKSUM) != 0;
  }
  return success();
}

Status EthdevPort::configure() {
  static_assert(RTE_ETH_RX_OFFLOAD_IPV4_CKSUM == RTE_ETH_TX_OFFLOAD_IPV4_CKSUM &&
                RTE_ETH_RX_OFFLOAD_UDP_CKSUM ==
                    RTE_ETH_TX_OFFLOAD_UDP_CKSUM);  // learn_device ands the two
  rte_eth_conf conf{};
  const uint64_t checksums = (facts_.ip_checksum_offload ? RTE_ETH_TX_OFFLOAD_IPV4_CKSUM : 0) |
                             (facts_.udp_checksum_offload ? RTE_ETH_TX_OFFLOAD_UDP_CKSUM : 0);
  conf.txmode.offloads = checksums | (facts_.zero_copy_tx ? RTE_ETH_TX_OFFLOAD_MULTI_SEGS : 0);
  conf.rxmode.offloads = checksums;
  if (traits_.takes_mtu) conf.rxmode.mtu = facts_.frame_bytes_max - kEthernetBytes;
  conf.intr_conf.rxq = options_.interrupts;
  const auto queues = static_cast<uint16_t>(facts_.queues);
  int failed = rte_eth_dev_configure(ethdev_, queues, queues, &conf);
  if (failed != 0 && options_.interrupts) {
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
  if (facts_.ip_checksum_offload)
    queue.checksum_flags |= RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_IPV4;
  if (facts_.udp_checksum_offload)
    queue.checksum_flags |= RTE_MBUF_F_TX_UDP_CKSUM | RTE_MBUF_F_TX_IPV4;
  const uint32_t frames = pool_frames(rx_ring_frames_, tx_ring_frames_, options_.rx_buffers);
  queue.pool = make_pool("rx", frames, 0,
                         RTE_PKTMBUF_HEADROOM + buffer_bytes(std::max(facts_.frame_bytes_max,
                                                                      traits_.buffer_bytes_min)));
  if (facts_.zero_copy_tx) {
    constexpr uint16_t kPrivateBytes =
        RTE_ALIGN(sizeof(rte_mbuf_ext_shared_info), RTE_MBUF_PRIV_ALIGN);
    queue.body_pool =
        make_pool("body", tx_ring_frames_ + 2 * kMempoolCache + 2 * kPortBurst, kPrivateBytes, 0);
  }
  if (queue.pool == nullptr || (facts_.zero_copy_tx && queue.body_pool == nullptr)) {
    return error(
        "no memory for %u frames of %u bytes: %s; give EAL more (GASNET_DPDK_MEMORY_MB, or -m in "
        "GASNET_EAL_ARGS), or free huge pages",
        frames, facts_.frame_bytes_max, rte_strerror(rte_errno));
  }
  int failed =
      rte_eth_rx_queue_setup(ethdev_, index, rx_ring_frames_, kAnySocket, nullptr, queue.pool);
  if (failed == 0)
    failed = rte_eth_tx_queue_setup(ethdev_, index, tx_ring_frames_, kAnySocket, nullptr);
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
  if (const int failed = rte_eth_dev_start(ethdev_); failed != 0) {
    return error("%s does not start: %s (%s)", describe().c_str(), strerror(-failed),
                 eal_log_tail().c_str());
  }
  started_ = true;
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
  if (!traits_.paired_queues && facts_.queues > 1 &&
      !steer_udp_ports(ethdev_, options_.udp_port, static_cast<uint16_t>(facts_.queues))) {
    facts_.queues = 1;  // the device cannot be told which queue a lane's frames belong to
  }
  facts_.event_fd = options_.interrupts && open_wake_fds();
}

Status EthdevPort::wait_link_up(uint32_t timeout_ms) {
  rte_eth_link link{};
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
      rte_eth_dev_stop(ethdev_);
      rte_eth_dev_start(ethdev_);
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
    sum.wakeups_armed += one.wakeups_armed;
  }
  return sum;
}

std::string EthdevPort::describe() const {
  char name[RTE_ETH_NAME_MAX_LEN] = "?";
  if (ethdev_ < RTE_MAX_ETHPORTS) rte_eth_dev_get_name_by_port(ethdev_, name);
  char text[256];
  std::snprintf(text, sizeof text, "%s (%s), %u queue%s of %u frames of %u bytes, %s, %s", name,
                info_.driver_name != nullptr ? info_.driver_name : "?", facts_.queues,
                facts_.queues == 1 ? "" : "s", rx_ring_frames_, facts_.frame_bytes_max,
                facts_.zero_copy_tx ? "zero-copy transmit" : "copying transmit",
                facts_.event_fd ? "interrupts" : "polling only");
  return text;
}

EthdevPort::~EthdevPort() {
  const QuietThreads quiet;
  for (PortQueue& queue : queues_) {
    const LcoreOfQueue lcore(queue.lcore);
    rte_pktmbuf_free_bulk(queue.unsent.mbufs + queue.unsent.first, queue.unsent.count);
    rte_pktmbuf_free_bulk(queue.found.mbufs + queue.found.first, queue.found.count);
    if (queue.armed) disarm(queue);
    if (queue.wake_fd >= 0) ::close(queue.wake_fd);
  }
  if (started_) rte_eth_dev_stop(ethdev_);
  for (uint32_t key = 1; key <= kAttachedMax; ++key) {
    if (attached_[key - 1].base != 0) detach(key);
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
