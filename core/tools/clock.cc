// The tick: how long it is, measured once, and what follows from it.
#include "core/base/clock.h"

#include <sys/time.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/tools/api.h"

namespace pinwire {
namespace {

constexpr uint64_t kNsPerS = 1'000'000'000;
constexpr int kFractionBits = 32;
constexpr uint64_t kMeasureNs = 1'000'000;  ///< at least: a pair of readings errs by some 20 ns
constexpr double kHzMin = 1e6, kHzMax = 1e11;

struct Instant {
  uint64_t ticks, ns;
};

/// Both clocks at once: the pair that was read in the shortest time, whatever interrupted the
/// others.
Instant now_on_both() noexcept {
  Instant best{};
  uint64_t shortest = ~uint64_t{0};
  for (int attempt = 0; attempt < 16; ++attempt) {
    const uint64_t before = gasnett_ticks_now();
    const uint64_t ns = monotonic_ns();
    const uint64_t took = gasnett_ticks_now() - before;
    if (took < shortest) {
      shortest = took;
      best = {before + took / 2, ns};
    }
  }
  return best;
}

/// Read while the program is loaded: the first conversion may lie in a time that the client
/// measures, and finds the length of the tick without a wait.
const Instant at_load = now_on_both();

double measured_hz() noexcept {
  // A constructor of the client may convert before this one has run.
  const Instant start = at_load.ns != 0 ? at_load : now_on_both();
  while (monotonic_ns() - start.ns < kMeasureNs) {
    timespec rest{0, static_cast<long>(kMeasureNs / 10)};
    nanosleep(&rest, nullptr);
  }
  const Instant end = now_on_both();
  return static_cast<double>(end.ticks - start.ticks) * 1e9 /
         static_cast<double>(end.ns - start.ns);
}

/// The first processor's "cpu MHz", or 0.
double cpuinfo_hz() noexcept {
  double mhz = 0;
  if (FILE* file = std::fopen("/proc/cpuinfo", "r")) {
    char line[256];
    while (mhz == 0 && std::fgets(line, sizeof line, file) != nullptr) {
      if (std::sscanf(line, "cpu MHz : %lf", &mhz) != 1) mhz = 0;
    }
    std::fclose(file);
  }
  return mhz * 1e6;
}

#if defined(__x86_64__)
double tick_hz() noexcept {
  const char* how = gasnett_getenv("GASNET_TSC_RATE");
  if (how == nullptr || *how == '\0' || std::strcmp(how, "walltime") == 0) return measured_hz();
  double hz = 0;
  if (std::strcmp(how, "cpuinfo") == 0) {
    hz = cpuinfo_hz();
  } else {
    char rest = 0;
    if (std::sscanf(how, "%lf%c", &hz, &rest) != 1) hz = 0;
  }
  if (hz < kHzMin || hz > kHzMax) {
    fatal(
        "invalid GASNET_TSC_RATE=\"%s\": expected walltime, cpuinfo (where /proc/cpuinfo tells "
        "MHz), "
        "or a number of Hz from 1000000 to 100000000000",
        how);
  }
  return hz;
}
#else
double tick_hz() noexcept { return 1e9; }
#endif

/// Nanoseconds of a tick, in fixed point; 0 until measured.
std::atomic<uint64_t> ns_per_tick_fixed{0};

uint64_t scale() noexcept {
  uint64_t fixed = ns_per_tick_fixed.load(std::memory_order_relaxed);
  if (fixed != 0) [[likely]]
    return fixed;
  fixed =
      static_cast<uint64_t>(1e9 / tick_hz() * static_cast<double>(uint64_t{1} << kFractionBits));
  uint64_t nobody = 0;  // of several threads that measure, one is believed
  return ns_per_tick_fixed.compare_exchange_strong(nobody, fixed, std::memory_order_relaxed)
             ? fixed
             : nobody;
}

__extension__ typedef unsigned __int128 Wide;

uint64_t to_ns(uint64_t ticks) noexcept {
  return static_cast<uint64_t>((static_cast<Wide>(ticks) * scale()) >> kFractionBits);
}

}  // namespace
}  // namespace pinwire

using namespace pinwire;

extern "C" {

#if !defined(__x86_64__)
gasnett_tick_t gasnett_ticks_now() { return monotonic_ns(); }
#endif

uint64_t gasnett_ticks_to_ns(gasnett_tick_t ticks) { return to_ns(ticks); }
uint64_t gasnett_ticks_to_us(gasnett_tick_t ticks) { return to_ns(ticks) / 1000; }

double gasnett_tick_granularityus() {
  uint64_t least = ~uint64_t{0};
  for (int step = 0; step < 1000; ++step) {
    const uint64_t before = gasnett_ticks_now();
    uint64_t after = before;
    while (after == before) after = gasnett_ticks_now();
    if (after - before < least) least = after - before;
  }
  const double us = static_cast<double>(to_ns(least)) / 1000;
  return us > 0.001 ? us : 0.001;
}

double gasnett_tick_overheadus() {
  constexpr int kReadings = 1000;
  const uint64_t before = gasnett_ticks_now();
  for (int i = 0; i < kReadings; ++i) (void)gasnett_ticks_now();
  const double us = static_cast<double>(to_ns(gasnett_ticks_now() - before)) / 1000 / kReadings;
  return us > 0 ? us : 1e-6;
}

uint64_t gasnett_gettimeofday_us() {
  timeval now;
  gettimeofday(&now, nullptr);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_usec);
}

int gasnett_nsleep(uint64_t ns_delay) {
  if (ns_delay == 0) return 0;
  const timespec delay{static_cast<time_t>(ns_delay / kNsPerS),
                       static_cast<long>(ns_delay % kNsPerS)};
  const int problem = clock_nanosleep(CLOCK_MONOTONIC, 0, &delay, nullptr);
  errno = problem != 0 ? problem : errno;
  return problem;
}

}  // extern "C"
