// Exactly once, whatever the wire does.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "tests/support/frame_look.h"
#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

constexpr uint32_t kBeforeTheWrap = 0xffffff80;

/// Both ranks flood each other with messages of both classes, puts, gets and atomics.
class Traffic {
 public:
  Traffic(NicGroup& group, uint64_t count) : group_(group), count_(count) {
    for (uint32_t r = 0; r < 2; ++r) {
      seen_[r].resize(count);
      source_[r] = byte_pattern(count * kBytes, r + 1);
      target_[r].resize(count * kBytes);
      fetched_[r].resize(count * kBytes);
      old_[r].resize(count);
      put_region_[r] = group.pin(r, target_[r].data(), target_[r].size());
      get_region_[r] = group.pin(r, source_[r].data(), source_[r].size());
      word_region_[r] = group.pin(r, &word_[r], sizeof(uint64_t));
    }
  }

  void run(uint64_t rounds_max) {
    for (uint64_t round = 0; round < rounds_max && !finished(); ++round) {
      for (uint32_t r = 0; r < 2; ++r) step(r);
      group_.clock().advance(2'000);
    }
  }

  void check_everything() {
    for (uint32_t r = 0; r < 2; ++r) {
      EXPECT_EQ(posted_[r], kKinds * count_) << "rank " << r;
      EXPECT_EQ(done_[r], (kKinds - 1) * count_);
      EXPECT_EQ(seen_[r], std::vector<int>(count_, 1));
      EXPECT_EQ(target_[r], source_[1 - r]);
      EXPECT_EQ(fetched_[r], source_[1 - r]);
      EXPECT_EQ(word_[r], count_);
      std::sort(old_[r].begin(), old_[r].end());
      for (uint64_t i = 0; i < count_; ++i) EXPECT_EQ(old_[r][i], i);
      EXPECT_EQ(group_.nic(r).failure(), nullptr);
    }
  }

 private:
  static constexpr uint64_t kKinds = 4;
  static constexpr uint64_t kBytes = 300;

  bool finished() const {
    return got_[0] + got_[1] == 2 * count_ && done_[0] + done_[1] == 2 * (kKinds - 1) * count_;
  }
  void step(uint32_t r) {
    while (posted_[r] < kKinds * count_ && group_.post(r, next_work(r))) ++posted_[r];
    for (const uint64_t word : group_.poll(r)) {
      ASSERT_LT(word, count_);
      ++seen_[r][word];
      ++got_[r];
    }
    for (const Done& done : group_.dones(r)) {
      EXPECT_EQ(done.status, WorkStatus::kOk);
      ++done_[r];
    }
  }
  Work next_work(uint32_t r) {
    const uint32_t peer = 1 - r;
    number_ = posted_[r] / kKinds;
    const uint64_t at = number_ * kBytes;
    switch (posted_[r] % kKinds) {
      case 0: {
        const auto cls = number_ % 2 ? MessageClass::kReply : MessageClass::kRequest;
        return send_work(peer, cls, &number_, 8);
      }
      case 1:
        return put_work(peer, &source_[r][at], kBytes, &target_[peer][at],
                        put_region_[peer].remote_key);
      case 2:
        return get_work(peer, &fetched_[r][at], kBytes, &source_[peer][at],
                        get_region_[peer].remote_key);
      default:
        return atomic_work(peer, &add_one_, &old_[r][number_], &word_[peer],
                           word_region_[peer].remote_key);
    }
  }

  NicGroup& group_;
  const uint64_t count_;
  const AtomicOperands add_one_{AtomicCode::kAdd, 1, 0};
  uint64_t number_ = 0;
  uint64_t posted_[2] = {}, got_[2] = {}, done_[2] = {};
  std::vector<int> seen_[2];
  std::vector<uint8_t> source_[2], target_[2], fetched_[2];
  std::vector<uint64_t> old_[2];
  uint64_t word_[2] = {};
  Region put_region_[2], get_region_[2], word_region_[2];
};

class NicOnABadWire : public testing::TestWithParam<LoopFaults> {};

TEST_P(NicOnABadWire, DeliversEverythingExactlyOnceAcrossTheSequenceWrap) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    for (const bool coalesce : {true, false}) {
      NicGroup group(
          {.config = {.coalesce = coalesce, .first_sequence = kBeforeTheWrap, .seed = seed}});
      LoopFaults faults = GetParam();
      faults.seed = seed;
      group.set_faults(faults);
      // Where half is lost both ways the window stays small, and most frames wait for timeouts.
      Traffic traffic(group, faults.loss < 0.5 ? 400 : 60);
      traffic.run(16'000'000);  // it ends when all has come
      traffic.check_everything();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, NicOnABadWire,
    testing::Values(LoopFaults{}, LoopFaults{.loss = 0.001}, LoopFaults{.loss = 0.1},
                    LoopFaults{.loss = 0.5}, LoopFaults{.duplicate = 0.5},
                    LoopFaults{.reorder = 0.5}, LoopFaults{.corrupt = 0.2},
                    LoopFaults{.truncate = 0.2},
                    LoopFaults{.loss = 0.3, .duplicate = 0.1, .reorder = 0.3, .corrupt = 0.01}));

TEST(NicLoss, ALoneMessageThatIsLostIsRepeatedSoon) {
  NicGroup group({});
  const uint64_t word = 5;
  // A few round trips, so that the timeout knows the path.
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(group.post(0, send_work(1, MessageClass::kRequest, &word, 8)));
    ASSERT_EQ(group.run(4, 1, 1'000).size(), 1u);
  }
  ASSERT_TRUE(group.post(0, send_work(1, MessageClass::kRequest, &word, 8)));
  group.port(1).lose_waiting();
  uint64_t waited_ns = 0;
  while (group.run(1, 1, 1'000).empty() && waited_ns < 1'000'000'000) waited_ns += 1'000;
  EXPECT_LT(waited_ns, 200'000u);  // not a fixed 5 ms
  EXPECT_EQ(group.stat(0, "timeouts"), 1u);
}

/// A full switch drops each copy of a frame, and passes the questions, for 100 ms. Before that,
/// GetParam() exchanges teach the sender how long its peer takes.
class NicLossAtAFullSwitch : public testing::TestWithParam<uint32_t> {
 protected:
  void run(uint64_t peer_polls_each_ns) {
    for (uint32_t i = 0; i < GetParam(); ++i) {
      ASSERT_TRUE(post());
      group.run(20, 0, 1'000);
    }
    ASSERT_TRUE(post());
    for (uint64_t at_ns = 0; at_ns < 100'000'000; at_ns += kStepNs) {
      group.poll(0);
      if (group.port(1).waiting() != 0 && header_at(group.port(1), 0).kind == FrameKind::kRecords) {
        group.port(1).lose_waiting();
        ++copies;
      }
      if (at_ns % peer_polls_each_ns == 0) group.poll(1);
      group.clock().advance(kStepNs);
    }
  }
  bool post() { return group.post(0, send_work(1, MessageClass::kRequest, &copies, 8)); }

  static constexpr uint64_t kStepNs = 5'000;
  NicGroup group{{}};
  uint64_t copies = 0;
};

/// A peer that answers questions at once is no reason to wait longer each time.
TEST_P(NicLossAtAFullSwitch, AFrameIsRepeatedAsOftenAsItsPeerAnswers) {
  run(kStepNs);
  EXPECT_GE(copies, 90u) << "with a back-off it would be twelve";
}

TEST_P(NicLossAtAFullSwitch, APeerThatTakesItsTimeIsAskedLessOften) {
  run(5'000'000);
  EXPECT_LE(group.stat(0, "late_asks"), 20u);
}

INSTANTIATE_TEST_SUITE_P(WhosePeerIs, NicLossAtAFullSwitch, testing::Values(0u, 50u),
                         [](const auto& tested) {
                           return std::string(tested.param == 0 ? "New" : "Known");
                         });

TEST(NicLoss, TheLastOfABurstThatIsLostIsRepeatedSoon) {
  NicGroup group({.config = {.coalesce = false}});
  const uint64_t word = 5;
  const auto send = [&] { return group.post(0, send_work(1, MessageClass::kRequest, &word, 8)); };
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(send());
    ASSERT_EQ(group.run(4, 1, 1'000).size(), 1u);
  }
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(send());
  ASSERT_EQ(group.port(1).waiting(), 3u);
  group.port(1).peek(2)[90] ^= std::byte{1};
  size_t got = 0;
  uint64_t waited_ns = 0;
  for (; got < 3 && waited_ns < 10'000'000; waited_ns += 1'000) {
    got += group.run(1, 1, 1'000).size();
  }
  EXPECT_EQ(got, 3u);
  EXPECT_LT(waited_ns, 200'000u);
}

TEST(NicLoss, AWholeBurstIsRepairedAfterOneTimeout) {
  NicGroup group({.config = {.coalesce = false}});
  const auto source = byte_pattern(64 * 1024);
  std::vector<uint8_t> target(source.size());
  const Region region = group.pin(1, target.data(), target.size());
  const Work work = put_work(1, source.data(), source.size(), target.data(), region.remote_key);
  ASSERT_TRUE(group.post(0, work));
  group.run(20, 0, 1'000);
  ASSERT_TRUE(group.post(0, work));  // the window doubles with each round trip
  group.run(20, 0, 1'000);
  ASSERT_EQ(group.dones(0).size(), 2u);
  target.assign(target.size(), 0);
  ASSERT_TRUE(group.post(0, work));
  ASSERT_GT(group.port(1).waiting(), 40u);
  group.port(1).lose_waiting();
  group.run(400, 0, 2'000);
  EXPECT_EQ(group.dones(0).size(), 1u);
  EXPECT_EQ(source, target);
  EXPECT_LE(group.stat(0, "timeouts"), 2u);
}

TEST(NicLoss, TheSourceOfAGetMayBeGoneBeforeItsAcknowledgement_EX_058) {
  constexpr size_t kBytes = 2 * 4096;
  void* const memory =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const auto source = byte_pattern(kBytes);
  std::memcpy(memory, source.data(), kBytes);
  NicGroup group({.config = {.coalesce = false}});
  const Region region = group.pin(1, memory, kBytes);
  std::vector<uint8_t> fetched(kBytes);
  ASSERT_TRUE(group.post(0, get_work(1, fetched.data(), kBytes, memory, region.remote_key)));
  group.poll(1);
  ASSERT_GT(group.port(0).waiting(), 1u);
  // The first frame is overtaken by the others, and the port has no room for its repetition.
  const auto first = group.port(0).take_first();
  group.run(2);
  group.clock().advance(1'000'000);
  group.port(1).set_tx_room(0);
  for (uint32_t turns = 0; turns < 10; ++turns) group.poll(1);
  ASSERT_TRUE(group.port(0).inject(first.data(), static_cast<uint32_t>(first.size())));
  group.poll(0);
  group.port(1).lose_waiting();
  ASSERT_EQ(group.dones(0).size(), 1u);
  EXPECT_EQ(fetched, source);
  ASSERT_EQ(munmap(memory, kBytes), 0);
  group.port(1).set_tx_room(~uint64_t{0});
  group.poll(1);
  EXPECT_NE(group.stat(1, "retransmits"), 0u);
  group.run(2000, 0, 20'000);
  EXPECT_TRUE(group.nic(1).drained(0));
  EXPECT_EQ(fetched, source);
}

TEST(NicLoss, OneLostFrameOfManyIsRepeatedAlone) {
  NicGroup group({});
  const auto source = byte_pattern(64 * 1024);
  std::vector<uint8_t> target(source.size());
  const Region region = group.pin(1, target.data(), target.size());
  const Work work = put_work(1, source.data(), source.size(), target.data(), region.remote_key);
  ASSERT_TRUE(group.post(0, work));
  group.run(20, 0, 1'000);
  ASSERT_TRUE(group.post(0, work));
  group.port(1).peek(7)[90] ^= std::byte{1};
  group.run(100, 0, 2'000);
  EXPECT_EQ(group.dones(0).size(), 2u);
  EXPECT_EQ(group.stat(0, "retransmits"), 1u);
}

TEST(NicLoss, AClientThatComputesForLongRepeatsNothing) {
  NicGroup group({});
  const uint64_t word = 5;
  for (int i = 0; i < 200; ++i) {
    group.clock().advance(150'000);  // between the last poll and the post
    ASSERT_TRUE(group.post(0, send_work(1, MessageClass::kRequest, &word, 8)));
    group.poll(1);
    group.poll(1);
    group.clock().advance(1'000);
    group.poll(0);
    group.poll(0);
  }
  EXPECT_EQ(group.stat(0, "retransmits"), 0u);
}

TEST(NicLoss, AClientThatPollsRarelyStillRepeatsWhatWasLost) {
  for (const uint64_t pause_ns : {uint64_t{30'000}, uint64_t{300'000}, uint64_t{30'000'000}}) {
    NicGroup group({});
    const uint64_t word = 5;
    ASSERT_TRUE(group.post(0, send_work(1, MessageClass::kRequest, &word, 8)));
    group.port(1).lose_waiting();
    EXPECT_EQ(group.run(100, 1, pause_ns).size(), 1u) << pause_ns;
  }
}

}  // namespace
}  // namespace pinwire
