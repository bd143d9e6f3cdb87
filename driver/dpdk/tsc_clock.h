// The production clock: the time-stamp counter, scaled by one multiplication.
#pragma once

#include <cstdint>

#include "nicfw/port/clock.h"

namespace pinwire {

class TscClock final : public Clock {
 public:
  explicit TscClock(uint64_t ticks_per_s) noexcept;
  uint64_t now_ns() noexcept override;

 private:
  uint64_t start_ticks_;
  uint64_t ns_per_tick_q32_;  ///< fixed point, 32 bits after the point
};

/// As measured by EAL at its start (EAL must run).
uint64_t tsc_ticks_per_s() noexcept;

}  // namespace pinwire
