// Ports inside one process, whose EAL runs in a child, once for each test.
#pragma once

#include <gtest/gtest.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_ring.h>
#include <unistd.h>

#include "core/base/threads/cpus.h"
#include "driver/dpdk/eal/eal.h"
#include "driver/dpdk/port/port.h"
#include "tests/unit/driver/dpdk/two_processes.h"

namespace pinwire {

inline EalOptions small_eal(const std::string& directory, uint32_t mib = 192) {
  EalRequest request;
  request.file_prefix = "pinwire-test-" + std::to_string(getpid());
  request.cpus = usable_cpus();
  request.memory_bytes = uint64_t{mib} << 20;
  request.huge = HugePages::kNever;
  EalOptions options;
  options.plan = plan_eal(request);
  options.runtime_dir = directory;
  return options;
}

/// Runs `body` in a child with EAL up; "" if it was content and left nothing behind.
inline void with_eal(const std::function<std::string()>& body) {
  const ScratchDirectory scratch;
  const auto said = run_processes(1, 30, [&](uint32_t, Meeting&) -> std::string {
    if (Status started = eal_start(small_eal(scratch.path())); !started) return started.sentence();
    const std::string wrong = body();
    eal_stop();
    return wrong;
  });
  EXPECT_EQ(said[0], "");
  EXPECT_EQ(scratch.entries(), std::vector<std::string>{});
}

inline DpdkPortOptions vdev(const char* device, const char* arguments) {
  DpdkPortOptions options;
  options.device = device;
  options.make_vdev = true;
  options.device_arguments = arguments;
  options.rx_buffers = 256;
  return options;
}

/// A net_ring device that sends into `out` and receives from `in`.
inline Result<std::unique_ptr<DpdkPort>> ring_port(const char* name, rte_ring* in, rte_ring* out,
                                                   DpdkPortOptions options) {
  const int made = rte_eth_from_rings(name, &in, 1, &out, 1, 0);
  if (made < 0) return error("no device over rings");
  char device[RTE_ETH_NAME_MAX_LEN];
  rte_eth_dev_get_name_by_port(static_cast<uint16_t>(made), device);
  options.device = device;
  options.rx_buffers = 256;
  return open_dpdk_port(options);
}

}  // namespace pinwire
