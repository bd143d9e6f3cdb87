// The facts that every rank knows after the start.
#pragma once

#include <vector>

#include "bench/flood/loops/buffers.h"
#include "bench/flood/numbers/stopwatch.h"
#include "bench/flood/plan/options.h"
#include "bench/flood/plan/plan.h"

namespace pinwire::flood {

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

}  // namespace pinwire::flood
