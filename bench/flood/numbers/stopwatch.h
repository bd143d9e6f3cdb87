// Time for the benchmark itself. Loops are timed with the monotonic clock, single operations with
// the cycle counter, whose cost is measured and subtracted.
#pragma once

#include <cstdint>

#include "core/base/clock.h"

namespace pinwire::flood {

inline double clock_seconds(clockid_t clock) noexcept {
  return static_cast<double>(clock_ns(clock)) * 1e-9;
}

inline double now_seconds() noexcept { return clock_seconds(CLOCK_MONOTONIC); }
inline double cpu_seconds() noexcept { return clock_seconds(CLOCK_PROCESS_CPUTIME_ID); }

inline uint64_t cycles() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return monotonic_ns();
#endif
}

struct CycleClock {
  double ns_per_cycle = 1;
  double stamp_ns = 0;  ///< what one call of cycles() costs

  uint64_t ns(uint64_t difference) const noexcept {
    return static_cast<uint64_t>(static_cast<double>(difference) * ns_per_cycle + 0.5);
  }
};

/// Takes about 10 ms.
CycleClock calibrate();

}  // namespace pinwire::flood
