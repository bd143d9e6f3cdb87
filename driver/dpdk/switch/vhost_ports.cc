#include "driver/dpdk/switch/vhost_ports.h"

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cstring>

#include "core/base/bits.h"
#include "driver/dpdk/eal/eal.h"
#include "driver/dpdk/eal/eal_log.h"
#include "driver/dpdk/fabric/fabric.h"
#include "driver/dpdk/port/vhost_notice.h"

namespace pinwire {
namespace {

constexpr uint32_t kPoolCache = 256;
constexpr uint32_t kBuffersPerPort = 2048;
constexpr uint32_t kBuffersMin = 4096;
constexpr uint64_t kMbufOverheadBytes = 512;
constexpr uint64_t kDeviceMemoryBytes = uint64_t{32} << 20;
constexpr uint64_t kPortMemoryBytes = uint64_t{8} << 20;  // vhost's own, for each queue

uint32_t data_bytes(const SwitchOptions& options) {
  return RTE_PKTMBUF_HEADROOM + align_up(options.frame_bytes, 64u);
}

}  // namespace

uint32_t VhostPorts::buffers_for(const SwitchOptions& options) {
  if (options.buffers != 0) return options.buffers;
  const uint32_t wanted = options.ports * options.queues * kBuffersPerPort;
  return wanted > kBuffersMin ? wanted : kBuffersMin;
}

uint64_t VhostPorts::memory_bytes(const SwitchOptions& options) {
  return kDeviceMemoryBytes + options.ports * options.queues * kPortMemoryBytes +
         buffers_for(options) * (data_bytes(options) + kMbufOverheadBytes);
}

Status VhostPorts::open(const SwitchOptions& options) {
  const QuietThreads quiet;
  queues_ = options.queues;
  pool_ = rte_pktmbuf_pool_create("switch", buffers_for(options), kPoolCache, 0,
                                  static_cast<uint16_t>(data_bytes(options)), SOCKET_ID_ANY);
  if (pool_ == nullptr) {
    return error("pinwire_switch: no memory for %u buffers: %s; lower --buffers",
                 buffers_for(options), rte_strerror(rte_errno));
  }
  epoll_fd_ = epoll_create1(EPOLL_CLOEXEC);
  for (uint32_t port = 0; port < options.ports; ++port) {
    if (Status opened = open_port(options, port); !opened) return opened;
  }
  if (options.ports > 0)
    notice_vhost_socket(fabric_socket(Fabric::kSwitch, options.directory, 0));  // and all others
  set_interrupts(false);
  return success();
}

Status VhostPorts::open_port(const SwitchOptions& options, uint32_t index) {
  const std::string socket = fabric_socket(Fabric::kSwitch, options.directory, index);
  unlink(socket.c_str());  // of a switch that was killed
  const std::string device = "net_vhost" + std::to_string(index);
  const std::string arguments = "iface=" + socket + ",queues=" + std::to_string(options.queues);
  uint16_t ethdev = 0;
  if (rte_eal_hotplug_add("vdev", device.c_str(), arguments.c_str()) != 0 ||
      rte_eth_dev_get_port_by_name(device.c_str(), &ethdev) != 0) {
    return error("pinwire_switch: cannot make %s on %s: %s", device.c_str(), socket.c_str(),
                 eal_log_tail().c_str());
  }
  ports_.push_back({ethdev, device});
  rte_eth_conf conf{};
  conf.intr_conf.rxq = 1;
  const auto queues = static_cast<uint16_t>(options.queues);
  int failed = rte_eth_dev_configure(ethdev, queues, queues, &conf);
  for (uint16_t q = 0; failed == 0 && q < queues; ++q) {
    failed = rte_eth_rx_queue_setup(ethdev, q, 1024, 0, nullptr, pool_);
    if (failed == 0) failed = rte_eth_tx_queue_setup(ethdev, q, 1024, 0, nullptr);
  }
  if (failed == 0) failed = rte_eth_dev_start(ethdev);
  if (failed != 0 || access(socket.c_str(), F_OK) != 0) {
    // vhost starts a port whose socket it could not bind all the same.
    return error("pinwire_switch: cannot start the port on %s: %s (%s)", socket.c_str(),
                 failed != 0 ? strerror(-failed) : "DPDK did not make the socket",
                 eal_log_tail().c_str());
  }
  for (uint16_t q = 0; q < queues; ++q) {
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    const int fd = rte_eth_dev_rx_intr_ctl_q_get_fd(ethdev, q);
    if (fd >= 0) epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event);
  }
  return success();
}

uint16_t VhostPorts::rx(uint32_t port, uint32_t queue, rte_mbuf** mbufs, uint16_t room) noexcept {
  return rte_eth_rx_burst(ports_[port].ethdev, static_cast<uint16_t>(queue), mbufs, room);
}

uint16_t VhostPorts::tx(uint32_t port, uint32_t queue, rte_mbuf** mbufs, uint16_t count) noexcept {
  return rte_eth_tx_burst(ports_[port].ethdev, static_cast<uint16_t>(queue), mbufs, count);
}

void VhostPorts::set_interrupts(bool on) noexcept {
  for (const Port& port : ports_) {
    for (uint16_t q = 0; q < queues_; ++q) {
      if (on)
        rte_eth_dev_rx_intr_enable(port.ethdev, q);
      else
        rte_eth_dev_rx_intr_disable(port.ethdev, q);
    }
  }
}

bool VhostPorts::anything_waits() const noexcept {
  for (const Port& port : ports_) {
    for (uint16_t q = 0; q < queues_; ++q) {
      if (rte_eth_rx_queue_count(port.ethdev, q) > 0) return true;
    }
  }
  return false;
}

void VhostPorts::sleep(int timeout_ms) noexcept {
  epoll_event events[16];
  while (epoll_wait(epoll_fd_, events, 16, 0) > 0) {
  }
  set_interrupts(true);
  if (!anything_waits()) epoll_wait(epoll_fd_, events, 16, timeout_ms);
  set_interrupts(false);
}

void VhostPorts::close() {
  const QuietThreads quiet;
  for (const Port& port : ports_) {
    rte_eth_dev_stop(port.ethdev);
    rte_eth_dev_close(port.ethdev);
    rte_eal_hotplug_remove("vdev", port.device.c_str());
  }
  ports_.clear();
  if (epoll_fd_ >= 0) ::close(epoll_fd_);
  epoll_fd_ = -1;
  rte_mempool_free(pool_);
  pool_ = nullptr;
}

VhostPorts::~VhostPorts() { close(); }

}  // namespace pinwire
