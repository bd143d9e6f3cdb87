// One simulated process of an AmWorld.
#pragma once

#include <array>
#include <deque>

#include "am_world.h"

namespace pinwire::sim {

/// Suspends the rank before each poll: that is where virtual time passes.
class AmWorld::PausingDriver final : public Driver {
 public:
  PausingDriver(AmWorld& world, Rank rank, Driver& nic) : world_(world), rank_(rank), nic_(nic) {}

  const char* name() const noexcept override { return nic_.name(); }
  Caps caps() const noexcept override { return nic_.caps(); }
  Status open(const OpenInfo& info) override { return nic_.open(info); }
  std::vector<std::byte> address() const override { return nic_.address(); }
  Status connect(Rank peer, std::span<const std::byte> address) override {
    return nic_.connect(peer, address);
  }
  Result<Region> pin(void* base, uint64_t bytes, int fd, uint64_t fd_offset) override {
    return nic_.pin(base, bytes, fd, fd_offset);
  }
  Status unpin(const Region& region) override { return nic_.unpin(region); }
  void close() override { nic_.close(); }
  uint32_t post(uint32_t lane, std::span<const Work> work) noexcept override {
    return nic_.post(lane, work);
  }
  uint32_t done(uint32_t lane, std::span<Done> out) noexcept override {
    const uint32_t count = nic_.done(lane, out);
    moved_ |= count != 0;
    return count;
  }
  uint32_t recv(uint32_t lane, RecvFilter filter, std::span<Recv> out) noexcept override {
    world_.pause(rank_, moved_);
    const uint32_t count = nic_.recv(lane, filter, out);
    moved_ = count != 0;
    return count;
  }
  void give_back(uint32_t lane, std::span<const Recv> buffers) noexcept override {
    nic_.give_back(lane, buffers);
  }
  bool idle(uint32_t lane) const noexcept override { return nic_.idle(lane); }
  int event_fd(uint32_t lane) const noexcept override { return nic_.event_fd(lane); }
  Armed arm(uint32_t lane) noexcept override { return nic_.arm(lane); }
  const Failure* failure() const noexcept override { return nic_.failure(); }
  void stats(StatSink& sink) const noexcept override { nic_.stats(sink); }

 private:
  AmWorld& world_;
  Rank rank_;
  Driver& nic_;
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
  bool sent_all = false;
  /// Sources of LongAsync: the library's until the handler has run.
  struct Lent {
    uint32_t number;
    std::vector<std::byte> bytes;
  };
  std::deque<Lent> lent;
};

}  // namespace pinwire::sim
