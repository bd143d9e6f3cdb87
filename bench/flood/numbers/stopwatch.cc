#include "bench/flood/numbers/stopwatch.h"

#include <algorithm>

namespace pinwire::flood {
namespace {

double stamp_cost_cycles() {
  constexpr int kStamps = 1000;
  uint64_t best = UINT64_MAX;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const uint64_t begin = cycles();
    uint64_t last = begin;
    for (int i = 0; i < kStamps; ++i) last = cycles();
    best = std::min(best, last - begin);
  }
  return static_cast<double>(best) / kStamps;
}

}  // namespace

CycleClock calibrate() {
  constexpr double kSeconds = 0.01;
  const uint64_t first = cycles();
  const double begin = now_seconds();
  double end = begin;
  while (end - begin < kSeconds) end = now_seconds();
  const uint64_t last = cycles();
  CycleClock clock;
  if (last > first) clock.ns_per_cycle = (end - begin) * 1e9 / static_cast<double>(last - first);
  clock.stamp_ns = stamp_cost_cycles() * clock.ns_per_cycle;
  return clock;
}

}  // namespace pinwire::flood
