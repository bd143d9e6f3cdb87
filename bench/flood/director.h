// Rank 0: directs the others, prints.
#pragma once

#include "bench/flood/messages.h"
#include "bench/flood/worker.h"

namespace pinwire::flood {

/// To every other rank; waits until all have carried it out.
void order_all(const Job& job, const Order& order);
/// To every other rank; they leave.
void dismiss_all(const Job& job, int exit_code);

/// The tables and the JSON file. Returns the exit code.
int run_tables(const Job& job);

/// Continuous traffic, with or without a prompt. Returns the exit code.
int run_traffic(const Job& job);

}  // namespace pinwire::flood
