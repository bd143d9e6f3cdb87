// Two ranks of any driver in one process, decorated as a test wants them, each with pinned memory
// that the other reaches.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "driver/checked.h"
#include "driver/faulty.h"
#include "driver/shm/shm.h"
#include "nicfw/nic.h"
#include "tests/support/loop_port.h"

namespace pinwire {

enum class Kind { kShm, kNicfw, kVerbs };

/// two_ranks_verbs.cc; two_ranks_no_verbs.cc in a build without libibverbs.
bool has_verbs() noexcept;
/// A fake RDMA network with a device for each rank; keep it for as long as they are open.
std::shared_ptr<void> make_rdma_network();
std::unique_ptr<Driver> make_verbs_rank(Rank rank);

class TwoRanks {
 public:
  static constexpr uint64_t kMemoryBytes = 1 << 20;

  TwoRanks(Kind kind, const FaultPlan& plan) {
    if (kind == Kind::kVerbs) network_ = make_rdma_network();
    for (Rank rank = 0; rank < 2; ++rank) {
      memory_[rank].resize(kMemoryBytes + 64);
      auto driver = make_checked(make(kind, rank));
      drivers_[rank] = make_checked(make_faulty(std::move(driver), plan));
      const Status opened = drivers_[rank]->open(
          {.rank = rank, .rank_count = 2, .job_key = 0x123456789, .network_depth = 16});
      EXPECT_TRUE(opened.ok());
    }
    for (Rank rank = 0; rank < 2; ++rank) {
      const Rank peer = 1 - rank;
      EXPECT_TRUE(drivers_[rank]->connect(peer, drivers_[peer]->address()).ok());
      auto pinned = drivers_[rank]->pin(memory(rank), kMemoryBytes, -1, 0);
      EXPECT_TRUE(pinned.ok());
      regions_[rank] = *pinned;
    }
    for (Rank rank = 0; kind == Kind::kShm && rank < 2; ++rank) {
      shm_[rank]->map_peer_region(1 - rank, reinterpret_cast<uint64_t>(memory(1 - rank)),
                                  kMemoryBytes, memory(1 - rank));
    }
  }

  Driver& at(Rank rank) { return *drivers_[rank]; }
  std::byte* memory(Rank rank) {
    const auto base = reinterpret_cast<uintptr_t>(memory_[rank].data());
    return memory_[rank].data() + (64 - base % 64) % 64;
  }
  const Region& region(Rank rank) { return regions_[rank]; }
  /// After a rank exposed all of its memory: what the other does to reach it.
  Status reach_all_of(Rank rank) {
    return shm_[1 - rank] != nullptr ? shm_[1 - rank]->reach_peer_process(rank) : success();
  }

  /// The messages that a rank got in one turn: they are given back after `see`.
  using See = std::function<void(const Recv&)>;
  void turn(Rank rank, const See& see, std::vector<Done>& finished) {
    Recv batch[8];
    const uint32_t count = at(rank).recv(0, RecvFilter::kAll, batch);
    for (uint32_t i = 0; i < count; ++i) see(batch[i]);
    for (const MessageClass cls : {MessageClass::kReply, MessageClass::kRequest}) {
      for (uint32_t i = 0; i < count; ++i) {
        if (batch[i].cls == cls) at(rank).give_back(0, {&batch[i], 1});
      }
    }
    Done done[8];
    const uint32_t ready = at(rank).done(0, done);
    finished.insert(finished.end(), done, done + ready);
    clock_.advance(1'000);
  }

 private:
  std::unique_ptr<Driver> make(Kind kind, Rank rank) {
    if (kind == Kind::kShm) {
      auto driver = make_shm_driver(256);
      shm_[rank] = driver.get();
      return driver;
    }
    if (kind == Kind::kVerbs) return make_verbs_rank(rank);
    ports_[rank] = std::make_unique<LoopPort>(static_cast<uint8_t>(rank + 1), 1514, 64);
    if (rank != 0) ports_[1]->join(*ports_[0]);
    NicConfig config;
    config.window_frames = 32;
    config.seed += rank;
    return make_nic(*ports_[rank], clock_, config);
  }

  ManualClock clock_;
  std::shared_ptr<void> network_;
  std::unique_ptr<LoopPort> ports_[2];
  ShmDriver* shm_[2] = {};
  std::vector<std::byte> memory_[2];
  std::unique_ptr<Driver> drivers_[2];
  Region regions_[2] = {};
};

}  // namespace pinwire
