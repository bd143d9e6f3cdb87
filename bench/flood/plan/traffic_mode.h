// Continuous traffic as testpmd has it: what flows in which mode, and how much at once.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace pinwire::flood {

enum class TrafficMode : uint8_t { kFlood, kPingpong, kPut, kGet, kAm, kRxonly, kTxonly };

struct TrafficModeEntry {
  TrafficMode mode;
  const char* name;
  const char* meaning;
};

inline constexpr std::array kTrafficModes = {
    TrafficModeEntry{TrafficMode::kFlood, "flood", "both ranks of a pair send one-way AMs"},
    TrafficModeEntry{TrafficMode::kPingpong, "pingpong", "AM round trips, one at a time"},
    TrafficModeEntry{TrafficMode::kPut, "put", "overlapped puts, `depth` in flight"},
    TrafficModeEntry{TrafficMode::kGet, "get", "overlapped gets, `depth` in flight"},
    TrafficModeEntry{TrafficMode::kAm, "am", "AM requests with replies, `depth` in flight"},
    TrafficModeEntry{TrafficMode::kRxonly, "rxonly", "the partner sends one-way AMs to this rank"},
    TrafficModeEntry{TrafficMode::kTxonly, "txonly", "this rank sends one-way AMs"},
};

constexpr const TrafficModeEntry& entry(TrafficMode mode) noexcept {
  return kTrafficModes[static_cast<size_t>(mode)];
}

/// nullptr if there is no mode of that name.
constexpr const TrafficModeEntry* find_mode(std::string_view name) noexcept {
  for (const auto& candidate : kTrafficModes) {
    if (name == candidate.name) return &candidate;
  }
  return nullptr;
}

struct TrafficSettings {
  TrafficMode mode = TrafficMode::kFlood;
  uint32_t burst = 32;  ///< operations between two polls
  uint32_t depth = 64;  ///< operations in flight, in the modes that wait for them
  uint64_t bytes = 8;   ///< payload; 0: Short AMs
};

inline constexpr uint32_t kBurstMax = 512;    // testpmd's MAX_PKT_BURST
inline constexpr uint32_t kDepthMax = 65535;  // C1-224
inline constexpr uint64_t kTrafficBytesMax = uint64_t{4} << 20;

}  // namespace pinwire::flood
