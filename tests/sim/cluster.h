// Shared by the simulated ranks: the rules, the clock and the oracle.
#pragma once

#include <memory>
#include <vector>

#include "tests/sim/client/atomics.h"
#include "tests/sim/client/memory.h"
#include "tests/sim/oracle/deadlines.h"
#include "tests/sim/oracle/ledger.h"
#include "tests/sim/oracle/shadow.h"
#include "tests/sim/scenario.h"

namespace pinwire::sim {

struct Cluster {
  Cluster(const Scenario& rules, Schedule& time, Verdict& outcome)
      : scenario(rules),
        schedule(time),
        verdict(outcome),
        ledger(outcome),
        shadow(rules.ranks, rules.window_bytes * rules.ranks, outcome),
        atomics(rules.ranks, outcome),
        deadlines(rules, time, outcome) {
    for (Rank rank = 0; rank < rules.ranks; ++rank) {
      memories.push_back(
          std::make_unique<Memory>(rank, rules, atomics.cells(), shadow.image(rank)));
    }
  }

  const Scenario& scenario;
  Schedule& schedule;
  Verdict& verdict;
  Ledger ledger;
  Shadow shadow;
  AtomicLedger atomics;
  Deadlines deadlines;
  std::vector<std::unique_ptr<Memory>> memories;
  uint64_t send_bytes_max = ~uint64_t{0};  ///< the least of all ranks' drivers
  uint64_t last_progress_ns = 0;
};

}  // namespace pinwire::sim
