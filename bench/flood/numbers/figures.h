// The result of one measurement: one row of the tables, one object of the JSON output.
#pragma once

#include <cstdint>
#include <type_traits>

#include "bench/flood/numbers/operation.h"

namespace pinwire::flood {

struct Figures {
  // Plain data: ranks other than 0 send it as it is.
  Pattern test = Pattern::kPingpong;
  Operation operation = Operation::kPutBlocking;
  uint64_t bytes = 0;
  uint32_t depth = 1;  ///< operations in flight
  double p50_us = 0;   ///< pingpong: of a round trip; flood: of the time per message
  double p99_us = 0;
  double p999_us = 0;
  double messages_per_s = 0;
  double bytes_per_s = 0;
  double packets_per_s = 0;  ///< frames of the network, both ways; 0 where there are none (shm)
  double cpu_s = 0;          ///< of both ranks, in the timed loop that is the median

  double us_per_message = 0;  ///< the timed loop divided by its iterations, median (PA-011)
  double spread = 0;          ///< of us_per_message over the repetitions, as a fraction
  uint64_t iterations = 0;    ///< of each timed loop
  uint32_t batch = 1;         ///< operations between two time stamps
};

static_assert(std::is_trivially_copyable_v<Figures>);

/// Several pairs of ranks run at once: rates and CPU time add up, times are those of the slowest.
void add_pair(Figures& all, const Figures& pair);

}  // namespace pinwire::flood
