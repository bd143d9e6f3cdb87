// The kernel's clocks as one number.
#pragma once

#include <time.h>

#include <cstdint>

namespace pinwire {

inline int64_t clock_ns(clockid_t clock) noexcept {
  timespec at;
  clock_gettime(clock, &at);
  return int64_t{at.tv_sec} * 1'000'000'000 + at.tv_nsec;
}

inline uint64_t monotonic_ns() noexcept { return static_cast<uint64_t>(clock_ns(CLOCK_MONOTONIC)); }
inline uint64_t monotonic_us() noexcept { return monotonic_ns() / 1000; }

}  // namespace pinwire
