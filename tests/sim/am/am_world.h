// One run of the layer above the drivers: N ranks of the production engine and active messages over
// nicfw over the fabric. Each rank is a fiber; that code keeps what it knows of its process in a
// few globals, which are exchanged whenever another rank runs.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "am/message/token.h"
#include "core/base/random.h"
#include "core/engine/engine.h"
#include "tests/sim/am/am_ledger.h"
#include "tests/sim/am/fiber.h"
#include "tests/sim/client/memory.h"
#include "tests/sim/fabric/fabric.h"
#include "tests/sim/oracle/deadlines.h"
#include "tests/sim/oracle/shadow.h"

namespace pinwire::sim {

class AmWorld final : public EventTarget {
 public:
  /// Makes the driver of one rank; `world` offers clock() and fabric().
  using DriverMaker = std::function<std::unique_ptr<Driver>(AmWorld& world, Rank rank)>;

  /// nicfw over the simulated fabric.
  static std::unique_ptr<Driver> nic(AmWorld& world, Rank rank);

  explicit AmWorld(const Scenario& scenario, DriverMaker maker = nic, bool trace = false);
  ~AmWorld();

  bool run();
  const std::string& sentence() const noexcept { return verdict_.sentence(); }
  const Scenario& scenario() const noexcept { return scenario_; }
  Schedule& clock() noexcept { return schedule_; }
  const Schedule& clock() const noexcept { return schedule_; }
  Fabric& fabric() noexcept { return fabric_; }
  const Fabric& fabric() const noexcept { return fabric_; }
  /// The greatest share of its deadline that a message took until its handler ran.
  double worst_share() const noexcept { return deadlines_.worst_share(); }

  void fire(uint64_t rank_and_generation) override;
  /// A handler runs on the rank whose turn it is.
  void handle(pinwire_token& token, Category category, std::span<const int32_t> args,
              std::span<std::byte> payload);

 private:
  class PausingDriver;
  struct Node;

  void open();
  void exchange(Node& node);
  void run_node(Rank rank);
  void pause(Rank rank, bool moved);
  void compute(Rank rank);
  uint64_t draw_absence();
  void poll_at(Rank rank, uint64_t time_ns);
  void wake(Rank rank);
  void program(Rank rank);
  bool computes_next(const Node& node, uint32_t sent) const;
  void rest(Node& node);
  bool is_attentive(Rank rank) const { return rank < scenario_.ranks - scenario_.absent_ranks; }
  Rank draw_peer(Rank rank);
  void send_one(Rank rank);
  std::byte* free_slot(Node& node) const;
  void send_request(Node& node, uint32_t number);
  void send_reply(pinwire_token& token, const ActiveMessage& asked);
  bool reserve(Rank writer, Rank target, uint64_t bytes, PutRange& range, uint64_t content);
  bool finished() const;
  void check_end();
  uint64_t draw_bytes(uint64_t bytes_max);

  Scenario scenario_;
  Schedule schedule_;
  Verdict verdict_;
  Fabric fabric_;
  Shadow shadow_;
  AmLedger ledger_;
  Deadlines deadlines_;
  DriverMaker maker_;
  Random random_;
  std::vector<std::unique_ptr<Node>> nodes_;
  uint64_t last_progress_ns_ = 0;
  uint64_t absent_until_ns_ = 0;  ///< the last rank that computes is back
  uint64_t runs_seen_ = 0;
  bool over_ = false;
};

}  // namespace pinwire::sim
