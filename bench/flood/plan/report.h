// The first screen of one driver, and the tables of the GASNet paper's section 4.
#pragma once

#include <string>
#include <vector>

#include "bench/flood/numbers/figures.h"
#include "bench/flood/numbers/references.h"
#include "bench/flood/plan/plan.h"

namespace pinwire::flood {

/// The facts above the tables and beside the figures.
struct ReportFacts {
  std::string driver;
  std::string dispatch = "poll";
  uint32_t ranks = 2;
  uint32_t pairs = 1;
  uint32_t network_depth = 0;
  bool buffers_in_heap = false;
  bool yielding = false;
  LoopLimits limits;
  size_t planned = 0;  ///< measurements; fewer rows: the run was stopped
  References references;
  bool tables = false;  ///< after the first screen
};

std::string report(const ReportFacts& facts, const std::vector<Figures>& rows);

}  // namespace pinwire::flood
