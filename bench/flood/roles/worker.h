// A rank other than 0: polls, and does what rank 0 orders.
#pragma once

#include "bench/flood/roles/job.h"

namespace pinwire::flood {

/// Returns the exit code that rank 0 ordered.
int work(const Job& job);

}  // namespace pinwire::flood
