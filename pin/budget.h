// How much memory this process may pin, from the limits that the system states: never by trial
// (DESIGN 7). FAST pins whole segments, so its segments are bounded by this.
#pragma once

#include <cstdint>
#include <string>

namespace pinwire {

inline constexpr uint64_t kUnlimited = ~uint64_t{0};

/// What the system says.
struct PinLimits {
  uint64_t locked_bytes_max = kUnlimited;  ///< RLIMIT_MEMLOCK; kUnlimited with CAP_IPC_LOCK
  uint64_t locked_bytes = 0;               ///< already (VmLck and VmPin)
  uint64_t available_bytes = kUnlimited;   ///< memory of the host
  uint64_t group_bytes = kUnlimited;       ///< what the cgroup has left
};
PinLimits read_pin_limits();

struct PinBudget {
  uint64_t bytes = 0;
  std::string reason;  ///< which limit it is, in numbers, and what raises it
};
/// `reserve_bytes` are left to others: the driver's own buffers, the client's heap.
PinBudget pin_budget(const PinLimits& limits, uint64_t reserve_bytes);

}  // namespace pinwire
