// Rank 0: traffic until its user ends it.
#pragma once

#include "bench/flood/roles/job.h"

namespace pinwire::flood {

/// Continuous traffic, with or without a prompt. Returns the exit code.
int run_traffic(const Job& job);

}  // namespace pinwire::flood
