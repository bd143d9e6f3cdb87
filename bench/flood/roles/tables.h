// What rank 0 measures and prints without a prompt.
#pragma once

#include "bench/flood/roles/job.h"

namespace pinwire::flood {

/// The tables and the JSON file. Returns the exit code.
int run_tables(const Job& job);

}  // namespace pinwire::flood
