// The application arguments.
#pragma once

#include <string>
#include <vector>

#include "bench/flood/plan/plan.h"
#include "bench/flood/plan/traffic_mode.h"
#include "core/base/result.h"

namespace pinwire::flood {

enum class Yield : uint8_t { kAuto, kAlways, kNever };

struct Options {
  PlanRequest plan;
  LoopLimits limits;
  TrafficSettings traffic;
  bool interactive = false;
  bool auto_start = false;
  double stats_period_s = 0;
  double duration_s = 0;  ///< 0: until stopped
  std::string json_path;
  std::string references_path;   ///< where the references go as JSON
  bool tables = false;           ///< print them after the first screen
  bool buffers_in_heap = false;  ///< local buffers outside the segment
  bool references = true;        ///< measure what the tables are compared with
  Yield yield = Yield::kAuto;
  std::string help;  ///< not empty: print it and leave

  /// Continuous traffic instead of the tables.
  bool continuous() const noexcept { return interactive || auto_start; }
};

/// A sentence that says what to do if an argument is wrong.
Result<Options> parse_options(const std::string& program,
                              const std::vector<std::string>& arguments);

}  // namespace pinwire::flood
