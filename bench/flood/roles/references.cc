#include "bench/flood/roles/references.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "bench/flood/host/line_floor.h"
#include "bench/flood/loops/barriers.h"
#include "bench/flood/numbers/references.h"
#include "bench/flood/numbers/summary.h"
#include "bench/flood/roles/director.h"

namespace pinwire::flood {
namespace {

double timed_barriers(const Job& job, uint64_t count) {
  order_all(job, {.kind = Order::Kind::kBarrier, .count = count});
  join_barriers(1);  // the others may need a moment to begin
  const double begin = now_seconds();
  join_barriers(count);
  return (now_seconds() - begin) / static_cast<double>(count);
}

}  // namespace

std::optional<double> line_round_trip_ns(const Job& job) {
  constexpr uint32_t kNap_ms = 80;
  constexpr uint32_t kRounds = 20'000;
  const int partner_cpu = job.ranks > 1 ? ask_snapshot(job.path.partner).cpu : -1;
  order_all(job, {.kind = Order::Kind::kNap, .nap_ms = kNap_ms});
  auto trip = measure_line(-1, partner_cpu, kRounds);
  if (!trip) return std::nullopt;
  return trip->p50_ns;
}

double barrier_us(const Job& job) {
  constexpr uint64_t kWarmUp = 20;
  const LoopLimits& limits = job.options.limits;
  const double about_s = timed_barriers(job, kWarmUp);
  const uint64_t count = std::clamp(static_cast<uint64_t>(limits.seconds_max / about_s),
                                    kIterationsMin, limits.iterations);
  std::vector<double> us;
  for (uint32_t i = 0; i < limits.repetitions; ++i) us.push_back(timed_barriers(job, count) * 1e6);
  return summarize(us).median;
}

double memcpy_bytes_per_s(const Job& job) {
  constexpr uint64_t kBytes = kMemcpyBytes;
  constexpr int kCopies = 64;
  if (job.buffer_bytes < kBytes) return 0;
  std::vector<double> rates;
  for (uint32_t i = 0; i < job.options.limits.repetitions; ++i) {
    const double begin = now_seconds();
    for (int copy = 0; copy < kCopies; ++copy) {
      std::memcpy(job.path.sink, job.path.source, kBytes);
      asm volatile("" ::: "memory");
    }
    rates.push_back(kCopies * static_cast<double>(kBytes) / (now_seconds() - begin));
  }
  return summarize(rates).median;
}

}  // namespace pinwire::flood
