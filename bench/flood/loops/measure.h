// One measurement: warm-up, timed repetitions, a loop with time stamps, and the proof that the data
// arrived.
#pragma once

#include "bench/flood/loops/buffers.h"
#include "bench/flood/numbers/figures.h"
#include "bench/flood/numbers/stopwatch.h"
#include "bench/flood/plan/plan.h"
#include "core/base/result.h"

namespace pinwire::flood {

/// For ranks that measure; their partners poll meanwhile. A sentence if data did not arrive as
/// sent.
Result<Figures> measure(const Measurement& measurement, const LoopLimits& limits, Path path,
                        const CycleClock& clock);

}  // namespace pinwire::flood
