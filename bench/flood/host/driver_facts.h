// Facts that pinwire.h tells about the drivers below, picked by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pinwire::flood {

struct Stat {
  std::string name;
  uint64_t value = 0;
};

/// Every counter of this process.
std::vector<Stat> all_stats();

/// Frames of all drivers together; 0 where a driver has none (shm).
struct DriverCounters {
  uint64_t frames_sent = 0;
  uint64_t frames_received = 0;
  uint64_t frames_missed = 0;
};
DriverCounters driver_counters();

/// The counters whose name has `part` in it, a line each; a sentence if there are none.
std::string stats_about(std::string_view part);

}  // namespace pinwire::flood
