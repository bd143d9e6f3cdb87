// Whom a message or a transfer is for: one endpoint of one rank, in a word. That of an endpoint of
// index 0, the only one of GASNet-1, is the rank itself.
#pragma once

#include <cstdint>

#include "driver/work.h"

namespace pinwire {

using Target = uint32_t;

inline constexpr uint32_t kTargetRankBits = 16;  ///< a job has at most GASNET_MAXNODES ranks
inline constexpr uint32_t kRanksMax = (1u << kTargetRankBits) - 1;
inline constexpr uint32_t kEndpointsMax = 64;  ///< of a process: GASNET_MAXEPS
inline constexpr uint32_t kTargetsMax = kEndpointsMax << kTargetRankBits;

constexpr Target target_of(Rank rank, uint32_t endpoint) noexcept {
  return rank | endpoint << kTargetRankBits;
}
constexpr Rank rank_of(Target target) noexcept { return target & kRanksMax; }
constexpr uint32_t endpoint_of(Target target) noexcept { return target >> kTargetRankBits; }

}  // namespace pinwire
