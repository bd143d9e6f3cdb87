// The cores of this host that a job may use, as hwloc sees them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace pinwire::launch {

struct Core {
  std::vector<int> cpus;  ///< its hardware threads that may be used, as the kernel numbers them
  uint32_t domain;        ///< its NUMA node, counted from 0
};

/// A network device and the cores that are nearest to it; none: nothing is known of the device.
struct NearDevice {
  std::string name;
  std::vector<uint32_t> cores;
};

struct Machine {
  std::vector<Core> cores;  ///< neighbours stand side by side
  uint32_t domain_count = 0;
  std::vector<NearDevice> devices;
};

/// Cores outside this process's affinity mask or its cgroup's cpuset do not count. `devices`: PCI
/// addresses or names of interfaces. HWLOC_XMLFILE and HWLOC_SYNTHETIC put another machine in place
/// of this one, for tests.
Result<Machine> look_at_machine(const std::vector<std::string>& devices);

}  // namespace pinwire::launch
