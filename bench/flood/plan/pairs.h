// Pairs of ranks that talk to each other: ranks 0 and 1, 2 and 3, … The even one is the active
// sender, the odd one the passive receiver (PA-008). The last rank of an odd number only polls. A
// rank alone talks to itself.
#pragma once

#include <cstdint>
#include <optional>

#include "bench/flood/plan/traffic_mode.h"

namespace pinwire::flood {

constexpr uint32_t pairs_of(uint32_t ranks) noexcept { return ranks == 1 ? 1 : ranks / 2; }

constexpr std::optional<uint32_t> partner_of(uint32_t rank, uint32_t ranks) noexcept {
  if (ranks == 1) return 0;
  const uint32_t partner = rank ^ 1u;
  if (partner >= ranks) return std::nullopt;
  return partner;
}

constexpr bool measures(uint32_t rank, uint32_t ranks) noexcept {
  return rank % 2 == 0 && partner_of(rank, ranks).has_value();
}

/// Does the rank issue operations in this mode of continuous traffic?
constexpr bool sends(uint32_t rank, uint32_t ranks, TrafficMode mode) noexcept {
  if (!partner_of(rank, ranks).has_value()) return false;
  if (mode == TrafficMode::kFlood || ranks == 1) return true;
  return (mode == TrafficMode::kRxonly) == (rank % 2 == 1);
}

}  // namespace pinwire::flood
