// How much memory this process may pin, from the limits that the system states: never by trial.
// FAST pins whole segments, so its segments are bounded by this.
#pragma once

#include <cstdint>
#include <string>

namespace pinwire {

inline constexpr uint64_t kUnlimited = ~uint64_t{0};

/// The limits of the system.
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
/// The budget for a segment that each of `ports` RDMA ports pins for itself: the kernel counts
/// locked memory once for each of them, though it is there once. `reserve_bytes` are left to others
/// for each: the driver's own buffers, the client's heap.
PinBudget pin_budget(const PinLimits& limits, uint64_t reserve_bytes, uint32_t ports);

/// The bytes that a process may pin, and that the kernel lets it lock, counted for each port.
struct PinAllowance {
  uint64_t memory_bytes = 0;
  uint64_t locked_bytes = kUnlimited;
};
/// May all of a segment be pinned?
bool fits_whole(const PinAllowance& allowance, uint64_t bytes, uint32_t ports) noexcept;
/// The bytes that are left for pins on demand, each of which one port alone makes, beside what is
/// pinned whole.
uint64_t left_for_demand(const PinAllowance& allowance, uint64_t whole_bytes,
                         uint32_t ports) noexcept;
/// The part of that which belongs to a port that reaches `peers` of all the `peers_of_all`.
uint64_t part_of_port(uint64_t bytes, uint32_t peers, uint32_t peers_of_all) noexcept;

}  // namespace pinwire
