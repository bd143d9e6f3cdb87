// Which measurements a run makes, and how many iterations each gets.
//
// Every rank makes the same plan from the same arguments, so a measurement is named by its index.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/flood/numbers/operation.h"

namespace pinwire::flood {

struct Measurement {
  Pattern test = Pattern::kPingpong;
  Operation operation = Operation::kPutBlocking;
  uint64_t bytes = 0;
  uint32_t depth = 0;  ///< operations in flight; 0: as many as the network takes
  bool operator==(const Measurement&) const = default;
};

/// The user's wishes; empty lists mean "all".
struct PlanRequest {
  std::vector<Pattern> tests;
  std::vector<Operation> operations;
  std::vector<uint64_t> sizes;
  uint32_t depth = 0;        ///< of the flood tests
  bool depth_sweep = false;  ///< PA-017: depths 1, 2, 4 … 256 instead of `depth`
  bool quick = false;        ///< every third power of two
  bool key_figures = false;  ///< only those of the first screen, whatever the lists say
};

/// The limits of the network and the buffers.
struct PlanBounds {
  uint64_t buffer_bytes = 0;
  uint64_t medium_bytes_max = 0;
  uint64_t long_bytes_max = 0;
};

inline constexpr uint64_t kSweepBytesMax = uint64_t{4} << 20;
inline constexpr uint32_t kSweepDepthMax = 256;

/// In the order of the tables: test, operation, size, depth. Sizes that an operation cannot carry
/// are left out.
std::vector<Measurement> make_plan(const PlanRequest& request, const PlanBounds& bounds);

/// How long a measurement may be.
struct LoopLimits {
  uint64_t iterations = 10000;              ///< PA-011
  uint64_t bytes_max = uint64_t{64} << 20;  ///< of one loop
  double seconds_max = 0.04;                ///< of one loop
  double small_seconds_max = 0.5;           ///< of one loop at 0, 1 and 8 bytes: Table 1 is in full
  double measurement_seconds_max = 1.0;     ///< of all loops, once there are kRepetitionsMin
  uint32_t repetitions = 9;
};

inline constexpr uint64_t kIterationsMin = 5;
inline constexpr uint32_t kRepetitionsMin = 3;

/// Iterations of one timed loop, given about how long an operation takes.
uint64_t iterations_for(const LoopLimits& limits, uint64_t bytes, double seconds_per_operation);

/// Another timed loop after `made` of them, which took `seconds` together?
bool once_more(const LoopLimits& limits, uint32_t made, double seconds);

/// How many operations should lie between two time stamps that cost `stamp_ns` each, so that the
/// stamps do not measure themselves. 1 for anything that is slow enough to time one by one.
uint32_t stamp_batch(double operation_ns, double stamp_ns);

}  // namespace pinwire::flood
