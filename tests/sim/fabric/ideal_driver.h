// A Driver that cannot fail: memory to memory, each operation carried out in one instant some time
// after it was posted. The oracle is tested with it, whole and broken on purpose.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "core/base/random.h"
#include "driver/driver.h"
#include "tests/sim/schedule.h"

namespace pinwire::sim {

class IdealDriver;

/// Shared by the ideal drivers of one job.
class IdealNetwork {
 public:
  IdealNetwork(Schedule& schedule, uint32_t ranks, uint64_t seed)
      : schedule_(schedule), random_(seed), drivers_(ranks) {}

 private:
  friend class IdealDriver;
  struct Pending {
    Rank from;
    Work work;
    std::vector<std::byte> head;
    std::vector<std::byte> copy;  ///< of the payload, with kWorkCopied
  };
  uint64_t last_ns(const Pending& like) const;
  void carry_out_due();
  void carry_out(Pending& pending);

  Schedule& schedule_;
  Random random_;
  std::vector<IdealDriver*> drivers_;
  std::multimap<uint64_t, Pending> pending_;  ///< by the time when they happen
};

class IdealDriver final : public Driver {
 public:
  IdealDriver(IdealNetwork& network, Rank rank) : network_(network), rank_(rank) {}

  const char* name() const noexcept override { return "ideal"; }
  Caps caps() const noexcept override;
  Status open(const OpenInfo& info) override;
  std::vector<std::byte> address() const override { return {}; }
  Status connect(Rank, std::span<const std::byte>) override { return success(); }
  Result<Region> pin(void* base, uint64_t bytes, int fd, uint64_t fd_offset) override;
  Status unpin(const Region&) override { return success(); }
  void close() override {}
  uint32_t post(uint32_t lane, std::span<const Work> work) noexcept override;
  Lent lend(uint32_t lane, Rank peer, uint64_t bytes) noexcept override;
  void take_back(uint32_t lane, const Lent& lent) noexcept override;
  uint32_t done(uint32_t lane, std::span<Done> out) noexcept override;
  uint32_t recv(uint32_t lane, RecvFilter filter, std::span<Recv> out) noexcept override;
  void give_back(uint32_t lane, std::span<const Recv> buffers) noexcept override;
  bool idle(uint32_t) const noexcept override { return done_.empty() && inbox_.empty(); }
  int event_fd(uint32_t) const noexcept override { return -1; }
  Armed arm(uint32_t lane) noexcept override {
    if (!idle(lane)) return Armed::kBusy;
    return network_.pending_.empty() ? Armed::kArmed : Armed::kTimed;
  }
  const Failure* failure() const noexcept override { return failed_ ? &failure_ : nullptr; }
  void stats(StatSink&) const noexcept override {}

 private:
  friend class IdealNetwork;
  void refuse(const Work& work);

  IdealNetwork& network_;
  Rank rank_;
  Region region_{};
  std::deque<Done> done_;
  std::deque<Recv> inbox_;
  std::map<uint64_t, std::vector<std::byte>> buffers_;
  uint64_t next_buffer_ = 1;
  static constexpr uint64_t kLentBuffers = 8;
  static constexpr uint64_t kLentBytes = 65536;
  std::map<uint64_t, std::vector<std::byte>> lent_;  ///< by name
  bool failed_ = false;
  Failure failure_{};
};

}  // namespace pinwire::sim
