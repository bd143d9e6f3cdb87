// The switch's ports: N vhost devices on one pool of buffers.
#pragma once

#include <rte_mbuf.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "driver/dpdk/switch/switch_options.h"

namespace pinwire {

class VhostPorts {
 public:
  ~VhostPorts();
  /// EAL must run.
  Status open(const SwitchOptions& options);
  void close();

  uint32_t count() const noexcept { return static_cast<uint32_t>(ports_.size()); }
  uint32_t queues() const noexcept { return queues_; }
  rte_mempool* pool() const noexcept { return pool_; }
  uint16_t rx(uint32_t port, uint32_t queue, rte_mbuf** mbufs, uint16_t room) noexcept;
  uint16_t tx(uint32_t port, uint32_t queue, rte_mbuf** mbufs, uint16_t count) noexcept;

  /// Sleeps until a frame arrives on any port or `timeout_ms` have passed. Frames that arrive while
  /// it gets ready keep it awake.
  void sleep(int timeout_ms) noexcept;

  static uint32_t buffers_for(const SwitchOptions& options);
  static uint64_t memory_bytes(const SwitchOptions& options);

 private:
  struct Port {
    uint16_t ethdev;
    std::string device;
  };
  Status open_port(const SwitchOptions& options, uint32_t index);
  void set_interrupts(bool on) noexcept;
  bool anything_waits() const noexcept;

  std::vector<Port> ports_;
  uint32_t queues_ = 1;
  rte_mempool* pool_ = nullptr;
  int epoll_fd_ = -1;
};

}  // namespace pinwire
