#include "bench/flood/plan/plan.h"

#include <algorithm>
#include <bit>

#include "bench/flood/plan/key_figures.h"

namespace pinwire::flood {
namespace {

/// PA-013: from one byte to beyond what saturates a link.
std::vector<uint64_t> default_sizes(bool quick, bool depth_sweep) {
  // Nine depths of each size: a few sizes tell the story.
  if (depth_sweep) return {8, 512, 4096, 65536, 1u << 20};
  std::vector<uint64_t> sizes;
  for (uint64_t bytes = 1; bytes < kSweepBytesMax; bytes *= quick ? 8 : 2) sizes.push_back(bytes);
  sizes.push_back(kSweepBytesMax);
  return sizes;
}

uint64_t bytes_max_of(Operation operation, const PlanBounds& bounds) {
  if (operation == Operation::kAmMedium) {
    return std::min(bounds.medium_bytes_max, bounds.buffer_bytes);
  }
  if (operation == Operation::kAmLong) return std::min(bounds.long_bytes_max, bounds.buffer_bytes);
  return bounds.buffer_bytes;
}

std::vector<uint64_t> sizes_of(Operation operation, const std::vector<uint64_t>& wanted,
                               const PlanBounds& bounds) {
  if (operation == Operation::kAmShort) return {0};
  std::vector<uint64_t> sizes;
  for (const uint64_t bytes : wanted) {
    if (bytes > 0 && bytes <= bytes_max_of(operation, bounds)) sizes.push_back(bytes);
  }
  return sizes;
}

/// Blocking operations and round trips have one operation in flight by their nature.
std::vector<uint32_t> depths_of(Pattern test, Operation operation, const PlanRequest& request) {
  if (test == Pattern::kPingpong || is_blocking(operation)) return {1};
  if (!request.depth_sweep) return {request.depth};
  std::vector<uint32_t> depths;
  for (uint32_t depth = 1; depth <= kSweepDepthMax; depth *= 2) depths.push_back(depth);
  return depths;
}

std::vector<Measurement> key_plan(const PlanRequest& request, const PlanBounds& bounds) {
  std::vector<Measurement> plan;
  for (const KeyFigure& key : kKeyFigures) {
    for (const uint64_t bytes : sizes_of(key.operation, {key.bytes}, bounds)) {
      for (const uint32_t depth : depths_of(key.test, key.operation, request)) {
        plan.push_back({key.test, key.operation, bytes, depth});
      }
    }
  }
  return plan;
}

}  // namespace

std::vector<Measurement> make_plan(const PlanRequest& request, const PlanBounds& bounds) {
  if (request.key_figures) return key_plan(request, bounds);
  const std::vector<Pattern> tests =
      request.tests.empty() ? std::vector(kPatterns.begin(), kPatterns.end()) : request.tests;
  const std::vector<Operation> operations =
      request.operations.empty() ? std::vector(kOperations.begin(), kOperations.end())
                                 : request.operations;
  const std::vector<uint64_t> sizes =
      request.sizes.empty() ? default_sizes(request.quick, request.depth_sweep) : request.sizes;
  std::vector<Measurement> plan;
  for (const Pattern test : tests) {
    for (const Operation operation : operations) {
      for (const uint64_t bytes : sizes_of(operation, sizes, bounds)) {
        for (const uint32_t depth : depths_of(test, operation, request)) {
          plan.push_back({test, operation, bytes, depth});
        }
      }
    }
  }
  return plan;
}

uint64_t iterations_for(const LoopLimits& limits, uint64_t bytes, double seconds_per_operation) {
  uint64_t iterations = limits.iterations;
  if (bytes > 0) iterations = std::min(iterations, limits.bytes_max / bytes);
  const bool small = bytes <= 1 || bytes == 8;
  const double seconds_max = small ? limits.small_seconds_max : limits.seconds_max;
  if (seconds_per_operation * static_cast<double>(iterations) > seconds_max) {
    iterations = static_cast<uint64_t>(seconds_max / seconds_per_operation);
  }
  return std::max(iterations, std::min(kIterationsMin, limits.iterations));
}

bool once_more(const LoopLimits& limits, uint32_t made, double seconds) {
  if (made >= limits.repetitions) return false;
  return made < kRepetitionsMin || seconds < limits.measurement_seconds_max;
}

uint32_t stamp_batch(double operation_ns, double stamp_ns) {
  constexpr double kEnough = 5;      // slower than this many stamps: each operation by itself
  constexpr double kAmortized = 50;  // else the stamps are to be 2 % of what they measure
  constexpr uint32_t kBatchMax = 1024;
  if (operation_ns >= kEnough * stamp_ns) return 1;
  const double wanted = operation_ns > 0 ? kAmortized * stamp_ns / operation_ns : kBatchMax;
  return std::bit_ceil(static_cast<uint32_t>(std::min<double>(wanted, kBatchMax)));
}

}  // namespace pinwire::flood
