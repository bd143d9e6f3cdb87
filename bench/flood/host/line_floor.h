// The floor under every message between two cores: one cache line there and back.
#pragma once

#include <cstdint>

#include "core/base/result.h"

namespace pinwire::flood {

struct LineRoundTrip {
  double least_ns = 0;
  double p50_ns = 0;
  double p99_ns = 0;
  int first_cpu = -1;
  int second_cpu = -1;
};

/// Two threads, one pinned to each CPU. -1: the calling thread's own CPU, or any other one that it
/// may use. The caller's CPU set is restored. A sentence if there are no two CPUs.
Result<LineRoundTrip> measure_line(int first_cpu, int second_cpu, uint32_t rounds);

}  // namespace pinwire::flood
