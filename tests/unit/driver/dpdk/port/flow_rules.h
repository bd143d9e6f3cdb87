// Stands between a port and DPDK's flow rules, which no device has that a test can have: records
// what the port asks for, and answers as a device would. The linker puts it there (--wrap).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pinwire {

struct FlowRules {
  /// Ethdev names this driver; nullptr: the true one.
  const char* driver_name = nullptr;
  bool asks_device = true;  ///< false: what follows answers the calls
  bool isolates = true;
  const char* refusal = "the firmware is too old";  ///< what a device that does not isolate says
  uint32_t rules_max = UINT32_MAX;                  ///< that the device takes
  /// One line for each call, in order: "isolate 1", "configure 2 queues",
  /// "rule eth ipv4 udp 50000/ffff -> 0", "flush".
  std::vector<std::string> calls;
};

/// The one of this process.
FlowRules& flow_rules();

}  // namespace pinwire
