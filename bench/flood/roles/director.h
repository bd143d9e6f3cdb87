// Rank 0 directs the others.
#pragma once

#include "bench/flood/loops/messages.h"
#include "bench/flood/roles/job.h"

namespace pinwire::flood {

/// To every other rank; waits until all have carried it out.
void order_all(const Job& job, const Order& order);
/// To every other rank; they leave.
void dismiss_all(const Job& job, int exit_code);

}  // namespace pinwire::flood
