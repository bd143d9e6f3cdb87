// One run: the cluster, its drivers and clients, virtual time, and the verdict.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/sim/client/client.h"
#include "tests/sim/cluster.h"
#include "tests/sim/fabric/fabric.h"
#include "tests/sim/hostile.h"
#include "tests/sim/oracle/path_oracle.h"
#include "tests/sim/oracle/repeats.h"

namespace pinwire::sim {

class World final : public EventTarget {
 public:
  /// Makes the driver of one rank; `world` offers clock() and port().
  using DriverMaker = std::function<std::unique_ptr<Driver>(World& world, Rank rank)>;

  /// nicfw over the simulated fabric.
  static std::unique_ptr<Driver> nic(World& world, Rank rank);

  World(const Scenario& scenario, DriverMaker maker = nic, bool trace = false);
  ~World();

  /// Runs to the end; true if every promise was kept.
  bool run();
  const std::string& sentence() const noexcept { return verdict_.sentence(); }

  const Scenario& scenario() const noexcept { return scenario_; }
  Schedule& clock() noexcept { return schedule_; }
  const Schedule& clock() const noexcept { return schedule_; }
  const Fabric& fabric() const noexcept { return fabric_; }
  /// The greatest share of its deadline that an operation took.
  double worst_share() const noexcept { return cluster_.deadlines.worst_share(); }
  /// Compares the repetitions of a run with their reasons.
  const Repeats& repeats() const noexcept { return repeats_; }
  Repeats::Counted counted() const;
  Verdict& verdict() noexcept { return verdict_; }
  Fabric& fabric() noexcept { return fabric_; }
  Cluster& cluster() noexcept { return cluster_; }
  Driver& driver(Rank rank) { return *drivers_[rank]; }
  PathOracle& paths() noexcept { return paths_; }

  void fire(uint64_t rank_and_generation) override;

 private:
  struct Pace {
    uint64_t interval_ns = 0;
    uint64_t next_ns = 0;
    uint32_t generation = 0;
    uint32_t absences_left = 0;
    uint64_t absent_until_ns = 0;
    uint32_t posts_left = 0;  ///< turns without a poll that are still to come
    bool absent = false;      ///< it computes: arrivals do not wake it
    bool deaf = false;        ///< it was absent, or posted without a poll, since its last poll
  };
  void open();
  void work();
  void settle();
  void close();
  void poll(Rank rank);
  void poll_at(Rank rank, uint64_t time_ns);
  void wake(Rank rank);
  uint64_t pause(Rank rank, bool moved);
  Turn draw_turn(Pace& pace);
  uint64_t draw_absence(Pace& pace);
  uint64_t longest_idle_ns() const;
  uint64_t next_heartbeat_ns(const Pace& pace) const;
  void end_absences();
  bool somebody_computes() const;
  void check_alive();
  std::string states() const;
  void check_at_rest(Rank rank);
  void check_repeats();
  void check_failure(Rank rank);
  void start_crime();
  bool crime_solved();
  bool all_finished() const;
  bool all_drained() const;
  uint64_t lendable(Rank rank);

  Scenario scenario_;
  Schedule schedule_;
  Verdict verdict_;
  Fabric fabric_;
  Cluster cluster_;
  PathOracle paths_;
  Repeats repeats_;
  DriverMaker maker_;
  Random random_;
  std::vector<std::unique_ptr<Driver>> drivers_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<Pace> paces_;
  std::unique_ptr<Hostile> hostile_;
  std::vector<uint64_t> lendable_;  ///< how much each rank's lanes lend while nothing is lent
  uint64_t computed_ns_ = 0;        ///< somebody computed then, and nothing else moved
  uint64_t crime_ns_ = 0;           ///< when it happens; 0: never
  uint64_t crime_start_ns_ = 0;
  Rank criminal_ = 0;
  Rank victim_ = 0;
};

}  // namespace pinwire::sim
