// The tables of the GASNet paper's section 4, for one driver.
#pragma once

#include <string>
#include <vector>

#include "bench/flood/numbers/figures.h"
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
  // Each as often as it was measured.
  std::vector<double> barriers_us;
  std::vector<double> line_round_trips_ns;  ///< between the two cores: the floor of shm
  std::vector<double> memcpy_bytes_per_s;   ///< of 1 MiB: the ceiling of shm
};

std::string report(const ReportFacts& facts, const std::vector<Figures>& rows);

}  // namespace pinwire::flood
