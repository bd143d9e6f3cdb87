// One simulated process of an AmWorld.
#pragma once

#include <array>
#include <deque>

#include "driver/forwarding.h"
#include "tests/sim/am/am_world.h"

namespace pinwire::sim {

/// Suspends the rank before each poll: that is where virtual time passes.
class AmWorld::PausingDriver final : public ForwardingDriver {
 public:
  PausingDriver(AmWorld& world, Rank rank, Driver& nic)
      : ForwardingDriver(nic), world_(world), rank_(rank) {}

  uint32_t done(uint32_t lane, std::span<Done> out) noexcept override {
    const uint32_t count = inner().done(lane, out);
    moved_ |= count != 0;
    return count;
  }
  uint32_t recv(uint32_t lane, RecvFilter filter, std::span<Recv> out) noexcept override {
    world_.pause(rank_, moved_);
    world_.deadlines_.polled(rank_);
    const uint32_t count = inner().recv(lane, filter, out);
    moved_ = count != 0;
    return count;
  }

 private:
  AmWorld& world_;
  Rank rank_;
  bool moved_ = false;
};

struct AmWorld::Node {
  explicit Node(uint64_t seed) : random(seed) {}

  Random random;
  std::unique_ptr<Memory> memory;
  std::unique_ptr<Driver> nic;
  std::unique_ptr<PausingDriver> driver;
  std::unique_ptr<Fiber> fiber;
  std::vector<Route> routes;
  // The globals of the process, while another one runs.
  alignas(Engine) std::byte engine[sizeof(Engine)] = {};
  ThreadState thread;
  // Its pace.
  uint64_t interval_ns = 0;
  uint64_t next_ns = 0;
  uint32_t generation = 0;
  bool absent = false;
  uint32_t absences_left = 0;
  bool sent_all = false;
  // The payloads of messages under construction. They are not on the fiber's stack, because a world
  // that fails abandons that, and what it held would leak.
  std::vector<std::byte> request_source, reply_source;
  /// Sources of LongAsync: the library's until the handler has run.
  struct Lent {
    uint32_t number;
    std::span<std::byte> source;
    std::vector<std::byte> owned;  ///< the source, if it is outside the segment
  };
  std::deque<Lent> lent;
};

}  // namespace pinwire::sim
