// The loops that are timed: one per operation, with the sizes 1 and 8 as constants (C1-211), and
// one more of each that takes time stamps.
#pragma once

#include <cstdint>

#include "bench/flood/loops/buffers.h"
#include "bench/flood/numbers/sampler.h"
#include "bench/flood/plan/plan.h"

namespace pinwire::flood {

struct Loops {
  /// Seconds for `iterations` operations, everything synchronised at the end.
  double (*timed)(Path path, uint64_t iterations);
  /// The same in batches of the sampler; `iterations` is rounded up to whole ones.
  void (*sampled)(Path path, uint64_t iterations, Sampler& sampler);
};

/// `measurement.depth` 0 is a flood without a window; path.window must be equal to it.
Loops loops_of(const Measurement& measurement);

}  // namespace pinwire::flood
