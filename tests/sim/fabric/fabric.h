// The simulated network: every rank's port, its link, and one switch with an output queue per rank.
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "tests/sim/fabric/fabric_counts.h"
#include "tests/sim/fabric/faults.h"
#include "tests/sim/fabric/sim_port.h"
#include "tests/sim/fabric/wire.h"

namespace pinwire::sim {

class Fabric final : public EventTarget, public Wire {
 public:
  Fabric(const Scenario& scenario, Schedule& schedule, Verdict& verdict);

  SimPort& port(Rank rank) { return *ports_[rank]; }
  uint64_t send(Rank from, const TxFrame& frame) override;
  void settle(Rank from, uint32_t key) override;
  /// A stranger's frame, straight to `to`.
  void inject(Rank to, std::span<const std::byte> frame);
  void fire(uint64_t flight_and_stage) override;

  /// A listener that is told when a port got a frame (to wake its rank).
  void on_delivery(void (*hook)(void*, Rank), void* context) { hook_ = hook, context_ = context; }
  const FabricCounts& counts() const noexcept { return counts_; }
  /// Frames of this rank that the path was too narrow for.
  uint64_t oversized_from(Rank from) const noexcept { return oversized_from_[from]; }
  void note_full(uint64_t ns) override;
  void note_overtaken(uint64_t frames) override { counts_.overtaken += frames; }
  uint64_t bytes_sent() const noexcept { return bytes_sent_; }
  uint32_t in_flight() const noexcept { return in_flight_; }
  uint64_t last_sent_ns() const noexcept { return last_sent_ns_; }
  /// Genuine frames seen lately, undamaged: what a stranger on the wire may have recorded. Some
  /// never arrived.
  struct Recorded {
    Rank to;
    std::vector<std::byte> bytes;
  };
  const std::deque<Recorded>& recorded() const noexcept { return recorded_; }

 private:
  /// A frame under way. The body lies in `bytes` too, unless `body` still points into the sender.
  struct Flight {
    Rank from, to;
    uint64_t number;  ///< as SimPort::Origin has it
    std::vector<std::byte> bytes;
    const std::byte* body;
    uint32_t body_bytes;
    uint32_t body_key;
    bool corrupt, truncate;
    bool used;
  };
  LinkDice& dice(Rank from, Rank to);
  bool partitioned(Rank from, Rank to) const;
  bool is_oversized(uint64_t bytes) const;
  uint64_t slower_ns() const;
  uint32_t launch(Rank from, Rank to, const TxFrame& frame, const Copy& copy);
  void leave_switch(uint32_t flight);
  void record(Rank to, std::vector<std::byte> frame);
  void arrive(Flight& flight);
  static void take_body(Flight& flight);

  const Scenario& scenario_;
  Schedule& schedule_;
  Verdict& verdict_;
  Random random_;
  std::vector<std::unique_ptr<SimPort>> ports_;
  std::unordered_map<uint64_t, LinkDice> dice_;  ///< of the links that were used
  std::vector<uint64_t> uplink_free_ns_;
  std::vector<uint64_t> downlink_free_ns_;
  std::vector<uint64_t> oversized_from_;
  std::vector<Flight> flights_;
  std::vector<uint32_t> unused_flights_;
  std::deque<Recorded> recorded_;
  FabricCounts counts_{};
  uint64_t bytes_sent_ = 0;
  uint32_t in_flight_ = 0;
  uint64_t start_ns_;
  uint64_t last_sent_ns_ = 0;
  void (*hook_)(void*, Rank) = nullptr;
  void* context_ = nullptr;
};

}  // namespace pinwire::sim
