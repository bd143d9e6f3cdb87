// A rank other than 0: polls, and does what rank 0 orders.
#pragma once

#include <vector>

#include "bench/flood/buffers.h"
#include "bench/flood/options.h"
#include "bench/flood/plan.h"
#include "bench/flood/stopwatch.h"

namespace pinwire::flood {

/// What every rank knows after the start.
struct Job {
  Options options;
  uint32_t rank = 0;
  uint32_t ranks = 1;
  bool paired = false;  ///< has a partner; the last of an odd number has none
  Path path;
  uint64_t buffer_bytes = 0;
  std::vector<Measurement> plan;
  CycleClock clock;
};

/// Returns the exit code that rank 0 ordered.
int work(const Job& job);

}  // namespace pinwire::flood
