// Which cores each rank of a host gets.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "driver/work.h"

namespace pinwire::launch {

/// `cpus_per_rank` of the cores that this process may use for each of `ranks`, in order.
Result<std::vector<std::vector<int>>> bind_plan(Rank ranks, uint32_t cpus_per_rank);

}  // namespace pinwire::launch
