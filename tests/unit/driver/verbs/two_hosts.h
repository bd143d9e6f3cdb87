// Two ranks of the verbs driver on a fake network, each with a device of its own.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "driver/checked.h"
#include "driver/verbs/driver.h"
#include "tests/support/verbs/fake_verbs.h"

namespace pinwire {

class TwoHosts : public testing::Test {
 protected:
  static constexpr uint64_t kMemoryBytes = 1 << 20;
  static constexpr uint32_t kDepth = 32;
  static constexpr uint32_t kTurnsMax = 100'000;

  explicit TwoHosts(uint64_t seed = 1) : fabric_(seed) {
    fabric_.add(fake_verbs::roce("left", 1));
    fabric_.add(fake_verbs::roce("right", 2));
  }
  ~TwoHosts() override {
    drivers_[0].reset();
    drivers_[1].reset();
    EXPECT_EQ(fabric_.live(), std::vector<std::string>());
    EXPECT_EQ(fabric_.violations(), std::vector<std::string>());
  }

  static VerbsOptions options_of(Rank rank) {
    VerbsOptions options;
    options.device = rank == 0 ? "left" : "right";
    options.connects_in_polls = true;
    return options;
  }
  /// Two open drivers, whose connections are made.
  void connect(const VerbsOptions& left = options_of(0)) {
    open(left);
    const Work hello = message(MessageClass::kReply);
    turn_until([&] { return at(0).post(0, {&hello, 1}) == 1; });
    turn_until([&] { return arrived(1, MessageClass::kReply) == 1 && is_met(1); });
    arrived_[1][static_cast<size_t>(MessageClass::kReply)] = 0;
    EXPECT_TRUE(fabric_.run());
    fabric_.reset_counters();
  }
  bool is_met(Rank rank) { return stat(rank, "connections_made") == 2; }
  /// Two open drivers that have not met.
  void open(const VerbsOptions& left = options_of(0), const VerbsOptions& right = options_of(1)) {
    for (Rank rank = 0; rank < 2; ++rank) {
      auto made = make_verbs_driver(rank == 0 ? left : right);
      ASSERT_TRUE(made.ok()) << made.sentence();
      drivers_[rank] = make_checked(std::move(*made));
      const Status opened = drivers_[rank]->open(
          {.rank = rank, .rank_count = 2, .job_key = 0x1234567, .network_depth = depth_});
      ASSERT_TRUE(opened.ok()) << opened.sentence();
    }
    for (Rank rank = 0; rank < 2; ++rank) {
      const Status connected = at(rank).connect(1 - rank, at(1 - rank).address());
      ASSERT_TRUE(connected.ok()) << connected.sentence();
      memory_[rank].resize(kMemoryBytes);
      auto pinned = at(rank).pin(memory_[rank].data(), kMemoryBytes, -1, 0);
      ASSERT_TRUE(pinned.ok()) << pinned.sentence();
      regions_[rank] = *pinned;
    }
    fabric_.reset_counters();
  }

  Driver& at(Rank rank) { return *drivers_[rank]; }
  /// A message that arrived at a rank is counted and given back.
  void turn(Rank rank, RecvFilter filter = RecvFilter::kAll) {
    Recv batch[8];
    const uint32_t count = at(rank).recv(0, filter, batch);
    for (uint32_t i = 0; i < count; ++i) ++arrived_[rank][static_cast<size_t>(batch[i].cls)];
    for (const MessageClass cls : {MessageClass::kReply, MessageClass::kRequest}) {
      for (uint32_t i = 0; i < count; ++i) {
        if (batch[i].cls == cls) at(rank).give_back(0, {&batch[i], 1});
      }
    }
    Done done[8];
    const uint32_t ready = at(rank).done(0, done);
    done_.insert(done_.end(), done, done + ready);
  }
  template <typename Ready>
  void turn_until(Ready&& ready, uint32_t turns_max = kTurnsMax) {
    for (uint32_t turns = 0; !ready(); ++turns) {
      ASSERT_LT(turns, turns_max) << "never";
      turn(0);
      turn(1);
    }
  }
  /// Sends that many requests of rank 0, as fast as it may post them, until rank 1 has them all.
  void send_requests(uint64_t count) {
    uint64_t sent = 0;
    turn_until([&] {
      const Work work = message(MessageClass::kRequest);
      sent += at(0).post(0, {&work, 1});
      return sent == count;
    });
    turn_until([&] { return arrived(1, MessageClass::kRequest) == count; });
  }
  uint64_t arrived(Rank rank, MessageClass cls) { return arrived_[rank][static_cast<size_t>(cls)]; }

  Work message(MessageClass cls, uint8_t flags = kWorkCopied | kWorkSilent) {
    Work work{};
    work.op = Op::kSend;
    work.cls = cls;
    work.flags = flags;
    work.head_bytes = sizeof head_;
    work.peer = 1;
    work.cookie = ++cookie_;
    work.head = head_;
    return work;
  }
  Work put(const void* from, uint64_t bytes, uint32_t local_key, uint8_t flags = 0) {
    Work work{};
    work.op = Op::kPut;
    work.cls = MessageClass::kReply;
    work.flags = flags;
    work.peer = 1;
    work.cookie = ++cookie_;
    work.local = const_cast<void*>(from);
    work.bytes = bytes;
    work.remote = regions_[1].base;
    work.remote_key = regions_[1].remote_key;
    work.local_key = local_key;
    return work;
  }
  uint64_t stat(Rank rank, const std::string& name) {
    struct Sink final : StatSink {
      void stat(const char* called, uint64_t counted) noexcept override {
        if (wanted == called) value = counted;
      }
      std::string wanted;
      uint64_t value = ~uint64_t{0};
    } sink;
    sink.wanted = name;
    at(rank).stats(sink);
    return sink.value;
  }

  fake_verbs::Fabric fabric_;
  std::unique_ptr<Driver> drivers_[2];
  std::vector<std::byte> memory_[2];
  Region regions_[2] = {};
  std::vector<Done> done_;
  uint64_t arrived_[2][2] = {};
  uint32_t depth_ = kDepth;
  uint64_t head_[2] = {7, 8};
  uint64_t cookie_ = 0;
};

}  // namespace pinwire
