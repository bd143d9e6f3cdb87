// A frame is repeated because it was lost, refused or late. Counts how often a run had a reason, so
// that a driver that repeats without one is found.
//
// The repetitions that a run allows, in all:
//  - for each frame that was lost on its way, itself, or what it acknowledged: one and a half,
//    because a repetition may cross the acknowledgement that was late; a frame is as good as lost
//    whose body changed while it was under way, as a put wrote what a get read: its receiver finds
//    it damaged;
//  - each frame that its receiver refused, and each that took a detour and was overtaken, or was
//    overtaken at all and acknowledged late, because its receiver did not look for a while, or its
//    port was full (overtaken.h);
//  - for each silence of a rank that computed, or whose port was full: of each flow to it the
//    timeouts that come meanwhile, each twice as late as the one before;
//  - a few frames of each rank before it knows how long its paths are, and again where they become
//    longer;
//  - one frame in a hundred, or in 25 where the link is so slow that its queues outlast a timeout.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/work.h"
#include "tests/sim/fabric/fabric_counts.h"
#include "tests/sim/scenario.h"
#include "tests/sim/schedule.h"

namespace pinwire::sim {

class Repeats {
 public:
  Repeats(const Scenario& scenario, const Schedule& schedule);

  /// The rank polls its driver now. While it was deaf no arrival woke it.
  void polled(Rank rank, bool was_deaf);
  /// How many timeouts of one flow a silence of its peer explains.
  static uint64_t timeouts_of(uint64_t silence_ns);

  /// The counters of all ranks' drivers.
  struct Counted {
    uint64_t frames = 0;
    uint64_t repeats = 0;
    uint64_t refused = 0;
    uint64_t damaged = 0;
  };
  uint64_t allowed(const FabricCounts& faults, const Counted& counted) const;

 private:
  const Scenario& scenario_;
  const Schedule& schedule_;
  std::vector<uint64_t> polled_ns_;
  uint64_t silences_ = 0;
};

}  // namespace pinwire::sim
