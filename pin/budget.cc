#include "pin/budget.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>

#include "core/base/check.h"
#include "core/base/files/number_file.h"

namespace pinwire {
namespace {

constexpr unsigned kCapIpcLock = 14;  // linux/capability.h

bool may_lock_without_limit() {
  return (hex_number_in("/proc/self/status", "CapEff:") >> kCapIpcLock & 1) != 0;
}

uint64_t less(uint64_t bytes, uint64_t taken) noexcept {
  if (bytes == kUnlimited) return bytes;
  return bytes > taken ? bytes - taken : 0;
}

std::string mebibytes(uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  return text;
}

}  // namespace

PinLimits read_pin_limits() {
  PinLimits limits;
  rlimit locked{};
  if (getrlimit(RLIMIT_MEMLOCK, &locked) == 0 && locked.rlim_cur != RLIM_INFINITY &&
      !may_lock_without_limit()) {
    limits.locked_bytes_max = locked.rlim_cur;
  }
  limits.locked_bytes =
      (number_in("/proc/self/status", "VmLck:") + number_in("/proc/self/status", "VmPin:")) * 1024;
  limits.available_bytes = number_in("/proc/meminfo", "MemAvailable:") * 1024;
  // cgroup v2: "max" reads as 0, no limit.
  if (const uint64_t most = number_in("/sys/fs/cgroup/memory.max", ""); most != 0) {
    limits.group_bytes = less(most, number_in("/sys/fs/cgroup/memory.current", ""));
  }
  return limits;
}

PinBudget pin_budget(const PinLimits& limits, uint64_t reserve_bytes, uint32_t ports) {
  check(ports != 0, "a budget for no port");
  const uint64_t reserve = reserve_bytes * ports;
  const uint64_t left = less(less(limits.locked_bytes_max, limits.locked_bytes), reserve);
  const uint64_t locked = left == kUnlimited ? left : left / ports;
  const uint64_t memory = less(std::min(limits.available_bytes, limits.group_bytes), reserve);
  if (locked < memory) {
    const std::string counted =
        ports == 1 ? "" : ", which each of " + std::to_string(ports) + " ports is counted for";
    return {locked, "locked memory is limited to " + mebibytes(limits.locked_bytes_max) + ", " +
                        mebibytes(limits.locked_bytes) + " of it in use" + counted +
                        ": `ulimit -l unlimited`, or memlock in "
                        "/etc/security/limits.conf, raises that"};
  }
  if (limits.group_bytes < limits.available_bytes) {
    return {memory, "this process's cgroup has " + mebibytes(limits.group_bytes) +
                        " left: its memory.max raises that"};
  }
  return {memory, "the host has " + mebibytes(limits.available_bytes) + " of memory available"};
}

bool fits_whole(const PinAllowance& allowance, uint64_t bytes, uint32_t ports) noexcept {
  check(ports != 0, "a segment that no port pins", bytes);
  return bytes <= allowance.memory_bytes && bytes <= allowance.locked_bytes / ports;
}

uint64_t left_for_demand(const PinAllowance& allowance, uint64_t whole_bytes,
                         uint32_t ports) noexcept {
  return std::min(less(allowance.memory_bytes, whole_bytes),
                  less(allowance.locked_bytes, whole_bytes * ports));
}

uint64_t part_of_port(uint64_t bytes, uint32_t peers, uint32_t peers_of_all) noexcept {
  check(peers <= peers_of_all, "a port reaches more peers than all ports do", peers, peers_of_all);
  if (peers_of_all == 0) return 0;
  return bytes / peers_of_all * peers + bytes % peers_of_all * peers / peers_of_all;
}

}  // namespace pinwire
