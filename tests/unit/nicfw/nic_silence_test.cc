// When a peer counts as unreachable: after silence while this rank looked, never because of the
// clock alone. Each case is a finding (R1, R2, R3, R21) in which a healthy peer was given up.
#include <gtest/gtest.h>

#include "tests/support/frame_look.h"
#include "tests/support/nic_group.h"
#include "tests/unit/nicfw/nic_words.h"

namespace pinwire {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

Work short_message(Rank peer) { return send_work(peer, kRequest, &kWord, sizeof kWord); }

/// Polls `rank` each `step_ns` until it has a failure, or for `limit_ns`; returns how long.
uint64_t wait_for_failure(NicGroup& group, uint32_t rank, uint64_t step_ns, uint64_t limit_ns) {
  uint64_t waited_ns = 0;
  for (; group.nic(rank).failure() == nullptr && waited_ns < limit_ns; waited_ns += step_ns) {
    group.poll(rank);
    group.clock().advance(step_ns);
  }
  return waited_ns;
}

void exchange(NicGroup& group, int messages) {
  for (int i = 0; i < messages; ++i) {
    ASSERT_TRUE(group.post(0, short_message(1)));
    ASSERT_EQ(group.run(4, 1, 1'000).size(), 1u);
  }
  group.run(50, 0, 10'000);
  ASSERT_TRUE(group.nic(0).drained(0));
}

TEST(NicSilence, R1APeerIsAliveAfterBothComputedForAMinute) {
  NicGroup group({});
  exchange(group, 20);
  group.clock().advance(61 * kSecond);
  ASSERT_TRUE(group.post(0, short_message(1)));
  wait_for_failure(group, 0, 1'000, kSecond / 10);  // the peer is 100 ms late
  EXPECT_EQ(group.nic(0).failure(), nullptr);
  EXPECT_EQ(group.run(4, 1).size(), 1u);
}

TEST(NicSilence, R3TheFirstBackFromComputingGivesNobodyUp) {
  NicGroup group({});
  group.run(10);
  ASSERT_TRUE(group.post(0, short_message(1)));
  group.poll(0);
  group.clock().advance(1'000 * kSecond);
  wait_for_failure(group, 0, 1'000, kSecond / 10);
  EXPECT_EQ(group.nic(0).failure(), nullptr);
  EXPECT_EQ(group.run(4, 1).size(), 1u);
}

TEST(NicSilence, R21OneLostFrameAndOneLongAbsenceAreNoDeath) {
  NicGroup group({});
  group.run(10);
  ASSERT_TRUE(group.post(0, short_message(1)));
  group.port(1).lose_waiting();
  group.poll(0);
  group.clock().advance(60 * kSecond + kSecond / 2);  // rank 0 computes, rank 1 is well
  size_t delivered = 0;
  for (int polls = 0; polls < 100'000 && delivered == 0; ++polls) {
    group.poll(0);
    delivered += group.poll(1).size();
    group.clock().advance(1'000);
  }
  EXPECT_EQ(delivered, 1u);
  EXPECT_EQ(group.nic(0).failure(), nullptr);
}

TEST(NicSilence, ARankThatPollsOnceAMinuteHasNotLookedForLong) {
  NicGroup group({});
  ASSERT_TRUE(group.post(0, short_message(1)));
  wait_for_failure(group, 0, 61 * kSecond, 3'600 * kSecond);
  EXPECT_EQ(group.nic(0).failure(), nullptr);
}

TEST(NicSilence, R2APeerThatComputesLivesByOneTurnOfItsHeartbeatInTenSeconds) {
  NicGroup group({});
  uint64_t posted = 0;
  for (uint64_t ns = 0; ns < 1'000 * kSecond; ns += 5'000'000) {
    if (ns % kSecond == 0) posted += group.post(0, short_message(1)) ? 1 : 0;
    group.poll(0);
    if (ns % (10 * kSecond) == 0) group.nic(1).recv(0, RecvFilter::kRepliesOnly, {});
    group.clock().advance(5'000'000);
  }
  ASSERT_EQ(group.nic(0).failure(), nullptr);
  EXPECT_EQ(group.run(100, 1, 1'000'000).size(), posted);
}

TEST(NicSilence, APeerThatNeverAnswersIsGivenUpAfterTheTimeThatThisRankLooked) {
  NicGroup group({});
  ASSERT_TRUE(group.post(0, short_message(1)));
  const uint64_t waited_ns = wait_for_failure(group, 0, 5'000'000, 100 * kSecond);
  ASSERT_NE(group.nic(0).failure(), nullptr);
  EXPECT_EQ(group.nic(0).failure()->status, WorkStatus::kUnreachable);
  EXPECT_GE(waited_ns, 60 * kSecond);
  EXPECT_LT(waited_ns, 61 * kSecond);
}

TEST(NicSilence, SilenceCountsOnlyWithUnansweredQuestions) {
  NicGroup group({.config = {.peer_timeout_ns = 1'000, .rto_max_ns = 1'000'000}});
  ASSERT_TRUE(group.post(0, short_message(1)));
  wait_for_failure(group, 0, 1'000, kSecond);
  ASSERT_NE(group.nic(0).failure(), nullptr);
  EXPECT_GE(group.stat(0, "late_asks"), 3u) << "given up before it was asked again";
}

TEST(NicSilence, WithoutATimeoutNobodyIsGivenUp) {
  NicGroup group({.config = {.peer_timeout_ns = 0}});
  ASSERT_TRUE(group.post(0, short_message(1)));
  wait_for_failure(group, 0, 5'000'000, 600 * kSecond);
  EXPECT_EQ(group.nic(0).failure(), nullptr);
}

TEST(NicSilence, OverAMemoryMediumASilentPeerIsTheLaunchersBusiness) {
  NicGroup group({.memory_medium = {true, true}});
  ASSERT_TRUE(group.post(0, short_message(1)));
  wait_for_failure(group, 0, 5'000'000, 600 * kSecond);
  EXPECT_EQ(group.nic(0).failure(), nullptr);
  EXPECT_EQ(group.run(4, 1).size(), 1u);
}

/// Two gets whose target took them, has sent a part, and polls no more.
class NicResponse : public testing::Test {
 protected:
  void SetUp() override {
    const Region region = group.pin(1, source.data(), source.size());
    for (Work& get : gets) {
      get = get_work(1, target.data(), target.size(), source.data(), region.remote_key);
      ASSERT_TRUE(group.post(0, get));
    }
    for (const Rank rank : {0u, 1u, 0u, 0u, 0u}) group.poll(rank);
    ASSERT_TRUE(group.nic(0).drained(0)) << "both requests are acknowledged";
    ASSERT_TRUE(group.dones(0).empty());
  }

  NicGroup group{{}};
  std::vector<uint8_t> source = byte_pattern(400'000), target = std::vector<uint8_t>(400'000);
  Work gets[2];
};

/// Nothing is under way to it that would ask: seed 20010180 of the simulator.
TEST_F(NicResponse, ATargetThatIsGoneIsGivenUpLikeAnyPeer) {
  EXPECT_EQ(group.nic(0).arm(0), Armed::kTimed);
  const uint64_t waited_ns = wait_for_failure(group, 0, 5'000'000, 100 * kSecond);
  ASSERT_NE(group.nic(0).failure(), nullptr);
  EXPECT_EQ(group.nic(0).failure()->peer, 1u);
  EXPECT_GE(waited_ns, 60 * kSecond);
  EXPECT_LT(waited_ns, 62 * kSecond);
  const std::vector<Done> dones = group.dones(0);
  ASSERT_EQ(dones.size(), 2u);
  for (const Done& done : dones) EXPECT_EQ(done.status, WorkStatus::kUnreachable);
}

TEST_F(NicResponse, ATargetThatComputesIsAskedOnceASecondAndLives) {
  for (uint64_t ns = 0; ns < 50 * kSecond; ns += 5'000'000) {
    group.poll(0);
    group.clock().advance(5'000'000);
  }
  EXPECT_LE(group.stat(0, "late_asks"), 50u) << "one for both gets";
  EXPECT_GE(group.stat(0, "late_asks"), 40u);
  std::vector<Done> dones;
  for (int i = 0; i < 5'000 && dones.size() < 2; ++i) {
    group.run(1, 0, 10'000);
    for (const Done& done : group.dones(0)) dones.push_back(done);
  }
  ASSERT_EQ(dones.size(), 2u);
  EXPECT_EQ(target, source);
  EXPECT_EQ(group.nic(0).failure(), nullptr);
  group.run(1'000, 0, 1'000'000);
  EXPECT_EQ(group.nic(0).arm(0), Armed::kArmed) << "nothing is waited for";
}

/// A copied put of several frames may wait for room that only a peer that is there may have, and
/// then it has nothing under way either.
class NicPresence : public testing::Test {
 protected:
  static constexpr Rank kRanks = 12, kGone = kRanks - 1;
  void SetUp() override {
    for (Rank rank = 1; rank < kRanks; ++rank) {
      regions.push_back(group.pin(rank, target.data(), target.size()));
    }
  }
  Work put_to(Rank rank) {
    Work put = put_work(rank, source.data(), group.nic(0).caps().copied_bytes_max, target.data(),
                        regions[rank - 1].remote_key);
    put.flags = kWorkCopied;
    return put;
  }
  /// All but the one that is gone take what they get, and get more. True: that one was asked for.
  bool offer_beside_busy_ranks() {
    for (Rank rank = 1; rank < kGone; ++rank) group.poll(rank);
    group.poll(0);
    group.dones(0);
    for (Rank rank = 1; rank < kGone; ++rank) {
      while (group.post(0, put_to(rank))) {
      }
    }
    const bool taken = group.post(0, put_to(kGone));
    group.poll(0);
    group.clock().advance(5'000'000);
    return taken;
  }

  NicGroup group{{.ranks = kRanks, .rx_buffers = 1024, .network_depth = 256}};
  std::vector<uint8_t> source = byte_pattern(400'000), target = std::vector<uint8_t>(400'000);
  std::vector<Region> regions;
};

TEST_F(NicPresence, APeerThatIsGoneIsGivenUpThoughNothingIsUnderWayToIt) {
  uint64_t waited_ns = 0;
  while (!offer_beside_busy_ranks() && waited_ns < 100 * kSecond) waited_ns += 5'000'000;
  ASSERT_NE(group.nic(0).failure(), nullptr);
  EXPECT_EQ(group.nic(0).failure()->peer, kGone);
  EXPECT_GE(waited_ns, 60 * kSecond);
  EXPECT_LT(waited_ns, 63 * kSecond);
}

TEST_F(NicPresence, AnAnswerThatNobodyWaitedForIsNoSilence) {
  for (int i = 0; i < 2'000; ++i) ASSERT_FALSE(offer_beside_busy_ranks());  // 10 s
  for (int i = 0; i < 12'000; ++i) {  // it computes on, and nobody wants anything of it
    for (Rank rank = 0; rank < kGone; ++rank) group.poll(rank);
    group.clock().advance(10'000'000);
  }
  ASSERT_FALSE(offer_beside_busy_ranks());
  EXPECT_EQ(group.nic(0).failure(), nullptr);
}

/// The time of the next question has 32 bits of a microsecond, and wraps in 71 minutes: a question
/// of 50 minutes ago does not keep the next one back.
TEST_F(NicPresence, APeerIsAskedAgainWhereverTheClockOfQuestionsStands) {
  for (int turn = 0; turn < 3; ++turn) {
    ASSERT_FALSE(offer_beside_busy_ranks());
    for (int i = 0; i < 300; ++i) {  // others go on, and nobody wants anything of it
      for (Rank rank = 0; rank < kGone; ++rank) group.poll(rank);
      group.dones(0);
      group.clock().advance(10 * kSecond);
    }
    group.port(kGone).lose_waiting();  // the old question
    ASSERT_FALSE(offer_beside_busy_ranks());
    EXPECT_EQ(group.port(kGone).waiting(), 1u) << "turn " << turn << ": it is asked";
    group.poll(kGone);
    group.poll(0);  // the answer
    EXPECT_EQ(group.nic(0).failure(), nullptr);
  }
}

/// A long put to an idle peer builds its first frame although a copied put to that peer finds no
/// room: a pause of the long put would not make room for it.
TEST_F(NicPresence, ALongPutDoesNotWaitForACopiedOneThatFindsNoRoom) {
  ASSERT_FALSE(offer_beside_busy_ranks());
  ASSERT_FALSE(offer_beside_busy_ranks());
  const auto puts_arrived = [&] {
    uint32_t count = 0;
    for (uint32_t i = 0; i < group.port(kGone).waiting(); ++i) {
      count += header_at(group.port(kGone), i).record_bytes > 1'000 ? 1 : 0;
    }
    return count;
  };
  ASSERT_EQ(puts_arrived(), 0u);
  Work put = put_to(kGone);
  put.flags = 0;
  put.bytes = source.size();
  ASSERT_TRUE(group.post(0, put));
  for (int i = 0; i < 10; ++i) ASSERT_FALSE(offer_beside_busy_ranks());
  EXPECT_GT(puts_arrived(), 0u);
}

/// When a peer was asked has 32 bits of a nanosecond, and wraps in 4.3 s: a peer that answers about
/// then gets what it was sent, once.
TEST(NicSilence, AnAnswerThatComesWhenTheClockOfQuestionsHasGoneRound) {
  constexpr uint64_t kRoundNs = uint64_t{1} << 32, kStepNs = 1'000'000;
  for (const uint64_t late_ns : {kRoundNs - 2 * kStepNs, kRoundNs, kRoundNs + 2 * kStepNs}) {
    NicGroup group({});
    exchange(group, 1);
    ASSERT_TRUE(group.post(0, short_message(1)));
    for (uint64_t ns = 0; ns < late_ns; ns += kStepNs) {  // rank 1 computes
      group.poll(0);
      group.clock().advance(kStepNs);
    }
    EXPECT_EQ(group.run(20'000, 1, 1'000).size(), 1u) << late_ns;
    EXPECT_EQ(group.run(2'000, 0, 1'000).size(), 0u) << late_ns;
    EXPECT_EQ(group.nic(0).failure(), nullptr);
  }
}

/// R25: an idle minute in which everybody polls is no silence either.
TEST(NicSilence, R25AnIdleMinuteIsNoSilence) {
  NicGroup group({});
  exchange(group, 1);
  for (int i = 0; i < 7'000; ++i) group.run(1, 0, 10'000'000);
  ASSERT_TRUE(group.post(0, short_message(1)));
  group.port(1).lose_waiting();
  EXPECT_EQ(group.run(20'000, 1, 1'000).size(), 1u);
  EXPECT_EQ(group.nic(0).failure(), nullptr);
}

/// R25: nor is it after a post that was refused for want of credit. A flow that such a post left
/// open would count silence from the last frame before the minute.
TEST(NicSilence, R25AnIdleMinuteAfterARefusedPostIsNoSilence) {
  NicGroup group({.rx_buffers = 16, .network_depth = 2, .config = {.coalesce = false}});
  bool taken = true;
  for (int i = 0; i < 300; ++i) {
    taken = group.post(0, short_message(1));
    group.poll(1, RecvFilter::kRepliesOnly);
    group.poll(0);
    group.clock().advance(10'000);
  }
  ASSERT_FALSE(taken);
  for (int i = 0; i < 7'000; ++i) group.run(1, 0, 10'000'000);
  ASSERT_TRUE(group.post(0, short_message(1)));
  for (int i = 0; i < 2'000; ++i) {
    group.port(1).lose_waiting();
    group.poll(0);
    group.clock().advance(100'000);
  }
  EXPECT_EQ(group.run(20'000, 1, 10'000).size(), 1u);
  EXPECT_EQ(group.nic(0).failure(), nullptr);
}

/// R5: a peer that keeps the port full does not put off what another peer waits for.
TEST(NicTimers, R5RunBesideAPortThatIsAlwaysFull) {
  NicGroup group({.ranks = 3, .rx_buffers = 1024, .config = {.coalesce = false}});
  const auto source = byte_pattern(1 << 20);
  std::vector<uint8_t> target(source.size());
  const Region region = group.pin(0, target.data(), target.size());
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(group.post(0, short_message(2)));
    ASSERT_EQ(group.run(4, 2, 1'000).size(), 1u);
  }
  uint64_t outstanding = 0;
  const auto feed = [&] {
    const Work put = put_work(0, source.data(), source.size(), target.data(), region.remote_key);
    while (outstanding < 8 && group.post(1, put)) ++outstanding;
    group.poll(1);
    group.poll(0);
    outstanding -= group.dones(1).size();
  };
  for (int i = 0; i < 20; ++i) feed();
  ASSERT_TRUE(group.post(0, short_message(2)));
  group.port(2).lose_waiting();
  uint64_t waited_ns = 0;
  for (; waited_ns < kSecond && group.poll(2).empty(); waited_ns += 10'000) {
    feed();
    group.clock().advance(10'000);
  }
  // 16 bursts of 10 us, twice as the first look after an absence is for what came meanwhile.
  EXPECT_LE(waited_ns, 2'000'000u);
}

}  // namespace
}  // namespace pinwire
