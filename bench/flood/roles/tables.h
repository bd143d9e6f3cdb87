// Rank 0 without a prompt: it measures the plan, and prints the tables.
#pragma once

#include "bench/flood/roles/job.h"

namespace pinwire::flood {

/// The tables and the JSON file. Returns the exit code.
int run_tables(const Job& job);

}  // namespace pinwire::flood
