#include "bench/flood/host/driver_facts.h"

#include <gasnet.h>
#include <pinwire.h>

#include <algorithm>
#include <array>
#include <span>

#include "bench/flood/words/text.h"

namespace pinwire::flood {
namespace {

constexpr size_t kStatsMax = 1024;

std::span<const pinwire_stat_t> read_stats() {
  static std::array<pinwire_stat_t, kStatsMax> stats;
  return {stats.data(), std::min(pinwire_stats(stats.data(), stats.size()), stats.size())};
}

/// Names are driver.counter.
bool is_counter(std::string_view name, std::string_view counter) {
  return name == counter || (name.size() > counter.size() && name.ends_with(counter) &&
                             name[name.size() - counter.size() - 1] == '.');
}

}  // namespace

std::vector<Stat> all_stats() {
  std::vector<Stat> stats;
  for (const auto& stat : read_stats()) stats.push_back({stat.name, stat.value});
  return stats;
}

DriverCounters driver_counters() {
  DriverCounters counters;
  for (const auto& stat : read_stats()) {
    if (is_counter(stat.name, "frames_sent")) counters.frames_sent += stat.value;
    if (is_counter(stat.name, "frames_received")) counters.frames_received += stat.value;
    if (is_counter(stat.name, "port_rx_dropped_frames")) counters.frames_missed += stat.value;
  }
  return counters;
}

std::string stats_about(std::string_view part) {
  std::string out;
  for (const Stat& stat : all_stats()) {
    if (stat.name.find(part) == std::string::npos) continue;
    out += text("  %-40s %llu\n", stat.name.c_str(), static_cast<unsigned long long>(stat.value));
  }
  return out.empty() ? text("  the driver has no counters about %.*s\n",
                            static_cast<int>(part.size()), part.data())
                     : out;
}

}  // namespace pinwire::flood
