// The promises of a run in which the path carries shorter frames than the ports: every rank whose
// frames vanished says so once, no other rank says anything, and few frames vanish.
#pragma once

#include <string>
#include <vector>

#include "nicfw/nic.h"
#include "tests/sim/fabric/fabric.h"
#include "tests/sim/oracle/verdict.h"
#include "tests/sim/scenario.h"

namespace pinwire::sim {

class PathOracle {
 public:
  explicit PathOracle(const Scenario& scenario) : scenario_(scenario), heard_(scenario.ranks) {}

  /// The counters of one rank's driver.
  NoticeSink& sink(Rank rank) { return heard_[rank]; }
  /// At rest.
  void check(const Fabric& fabric, Verdict& verdict) const;

 private:
  struct Heard final : NoticeSink {
    void say(const char* sentence) noexcept override {
      last = sentence;
      ++count;
    }
    std::string last;
    uint32_t count = 0;
  };
  bool is_certain(const Fabric& fabric) const noexcept;
  uint64_t vanished_max() const noexcept;
  bool must_speak(uint64_t vanished) const noexcept;

  const Scenario& scenario_;
  std::vector<Heard> heard_;
};

}  // namespace pinwire::sim
