// A driver that takes nothing, brings nothing and always works: tests override what they are about.
#pragma once

#include "driver/driver.h"

namespace pinwire::test {

class IdleDriver : public Driver {
 public:
  const char* name() const noexcept override { return "idle"; }
  Caps caps() const noexcept override { return {}; }
  Status open(const OpenInfo&) override { return success(); }
  std::vector<std::byte> address() const override { return {}; }
  Status connect(Rank, std::span<const std::byte>) override { return success(); }
  Result<Region> pin(void*, uint64_t, int, uint64_t) override { return Region{}; }
  Status unpin(const Region&) override { return success(); }
  void close() override {}
  uint32_t post(uint32_t, std::span<const Work>) noexcept override { return 0; }
  uint32_t done(uint32_t, std::span<Done>) noexcept override { return 0; }
  uint32_t recv(uint32_t, RecvFilter, std::span<Recv>) noexcept override { return 0; }
  void give_back(uint32_t, std::span<const Recv>) noexcept override {}
  bool idle(uint32_t) const noexcept override { return true; }
  int event_fd(uint32_t) const noexcept override { return -1; }
  Armed arm(uint32_t) noexcept override { return Armed::kBusy; }
  const Failure* failure() const noexcept override { return nullptr; }
  void stats(StatSink&) const noexcept override {}
};

}  // namespace pinwire::test
