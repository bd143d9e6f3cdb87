#include "driver/dpdk/tsc_clock.h"

#include <rte_cycles.h>

#include "core/base/check.h"

namespace pinwire {

TscClock::TscClock(uint64_t ticks_per_s) noexcept : start_ticks_(rte_rdtsc()) {
  check(ticks_per_s > 1'000'000, "time-stamp counter too slow", ticks_per_s);
  ns_per_tick_q32_ =
      static_cast<uint64_t>((static_cast<unsigned __int128>(1'000'000'000) << 32) / ticks_per_s);
}

uint64_t TscClock::now_ns() noexcept {
  // Starts at 1 s so that no caller mistakes the first readings for "never".
  const auto ticks = static_cast<unsigned __int128>(rte_rdtsc() - start_ticks_);
  return 1'000'000'000 + static_cast<uint64_t>((ticks * ns_per_tick_q32_) >> 32);
}

uint64_t tsc_ticks_per_s() noexcept { return rte_get_tsc_hz(); }

}  // namespace pinwire
