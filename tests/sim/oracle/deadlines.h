// Work between attentive peers ends in time, whatever others do: every operation and every
// message has a deadline of its own. The time in which one of its two ranks did not poll, or the
// network between all of them was cut, does not count; what third ranks do counts.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "driver/work.h"
#include "tests/sim/oracle/verdict.h"
#include "tests/sim/scenario.h"

namespace pinwire::sim {

inline constexpr uint64_t kDeadlineEvents = 4096;  ///< deadlines are checked once in so many

/// The bound on one operation between two ranks that poll, from the scenario's delays and losses.
uint64_t deadline_of(const Scenario& scenario);

class Deadlines {
 public:
  Deadlines(const Scenario& scenario, const Schedule& schedule, Verdict& verdict);

  /// `from` wants something of `to`, and has offered it to its driver, perhaps in vain.
  uint64_t begin(Rank from, Rank to, const char* what);
  /// It has come, or is no longer wanted. 0 is nothing.
  void end(uint64_t number);
  /// The rank polls its driver now.
  void polled(Rank rank);
  /// Fails the run if something is overdue. Looks at everything that is still owed.
  void check();

  /// The greatest share of its deadline that an operation took.
  double worst_share() const noexcept { return worst_share_; }

 private:
  struct Owed {
    Rank from, to;
    const char* what;
    uint64_t since_ns;
    uint64_t excused_ns;  ///< of both ranks, when it began
  };
  uint64_t gap_ns(Rank rank) const;
  uint64_t excused_ns(Rank rank) const;
  uint64_t cut_ns(uint64_t since_ns) const;
  void judge(const Owed& owed);

  const Scenario& scenario_;
  const Schedule& schedule_;
  Verdict& verdict_;
  const uint64_t start_ns_;
  const uint64_t bound_ns_;
  std::map<uint64_t, Owed> open_;
  std::vector<uint64_t> polled_ns_;
  std::vector<uint64_t> excused_ns_;
  std::vector<uint64_t> recovered_ns_;  ///< when timers that backed off for the rank have fired
  uint64_t next_ = 1;
  double worst_share_ = 0;
};

}  // namespace pinwire::sim
