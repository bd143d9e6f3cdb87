// The meaning of an acknowledgement that comes after a timeout. It may be that of a late poll, so
// that nothing was lost; or all that was sent with the frame was lost, too.
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

class NicLateAck : public testing::Test {
 protected:
  void SetUp() override { exchange(60); }

  /// Rank 0 learns that a round trip takes about a microsecond, and becomes less patient.
  void exchange(int puts) {
    for (int i = 0; i < puts; ++i) {
      put(1);
      group_.run(4, 0, 500);
      ASSERT_EQ(group_.dones(0).size(), 1u);
    }
  }
  /// The same, but each put is posted while the client computes, and its acknowledgement comes just
  /// after the poll that finds it posted.
  void exchange_while_computing(int puts, size_t dones = 1) {
    for (int i = 0; i < puts; ++i) {
      ASSERT_TRUE(group_.post(0, put_work(1, &word_, 8, &memory_, region_[1].remote_key)));
      group_.clock().advance(95'000);
      for (const Rank rank : {0, 1, 0}) group_.poll(rank);
      ASSERT_EQ(group_.dones(0).size(), dones);
    }
  }
  /// Each acknowledgement is of two puts: one that a poll sent, and one that the client posted
  /// while it computed.
  void exchange_pairs_while_computing(int pairs) {
    for (int i = 0; i < pairs; ++i) {
      put(1);
      group_.clock().advance(500);
      group_.poll(0);
      exchange_while_computing(1, 2);
    }
  }
  /// As many puts of 8 bytes, in a frame each.
  void put(uint32_t count, Rank from = 0) {
    for (uint32_t i = 0; i < count; ++i) {
      ASSERT_TRUE(
          group_.post(from, put_work(1 - from, &word_, 8, &memory_, region_[1 - from].remote_key)));
    }
    group_.poll(from);  // post() sends the first few alone
  }
  /// Takes the frames that wait for rank 1, from the one with this index on, off the wire.
  std::vector<std::vector<std::byte>> hold_back(uint32_t first) {
    std::vector<std::vector<std::byte>> kept, held;
    for (uint32_t i = 0; i < group_.port(1).waiting(); ++i) {
      const auto frame = group_.port(1).peek(i);
      (i < first ? kept : held).emplace_back(frame.begin(), frame.end());
    }
    group_.port(1).lose_waiting();
    deliver(kept);
    return held;
  }
  void deliver(const std::vector<std::vector<std::byte>>& frames) {
    for (const auto& frame : frames)
      ASSERT_TRUE(group_.port(1).inject(frame.data(), static_cast<uint32_t>(frame.size())));
  }
  /// Rank 0 polls until one more timeout has passed; how long that took.
  uint64_t wait_for_timeout() {
    const uint64_t before = group_.stat(0, "late_asks");
    uint64_t waited_ns = 0;
    for (; group_.stat(0, "late_asks") == before && waited_ns < kLimitNs; waited_ns += 500) {
      group_.clock().advance(500);
      group_.poll(0);
    }
    EXPECT_LT(waited_ns, kLimitNs);
    return waited_ns;
  }
  /// Runs both until rank 0 has so many Dones.
  void finish(size_t count) {
    size_t got = group_.dones(0).size();
    for (int i = 0; i < 20'000 && got < count; ++i) {
      group_.run(1, 0, 500);
      got += group_.dones(0).size();
    }
    EXPECT_EQ(got, count);
  }

  void expect_one_repeat() {
    put(6);
    auto held = hold_back(0);
    ASSERT_EQ(held.size(), 6u);
    wait_for_timeout();
    group_.poll(1);
    group_.poll(0);
    ASSERT_EQ(group_.stat(0, "retransmits"), 1u);
    group_.port(1).lose_waiting();
    deliver({held.front()});
    held.erase(held.begin());
    group_.poll(1);
    group_.poll(1);
    group_.poll(0);
    ASSERT_EQ(group_.dones(0).size(), 1u);
    deliver(held);
    group_.poll(1);
    group_.poll(1);
    group_.poll(0);
    EXPECT_EQ(group_.dones(0).size(), 5u);
    group_.run(100, 0, 1'000);
    EXPECT_EQ(group_.stat(0, "retransmits"), 1u);
  }

  static constexpr uint64_t kLimitNs = 100'000'000;
  NicGroup group_{{.config = {.coalesce = false}}};
  uint64_t word_ = 5, memory_ = 0;
  Region region_[2] = {group_.pin(0, &memory_, 8), group_.pin(1, &memory_, 8)};
};

TEST_F(NicLateAck, OfALateFrameSaysNothingOfTheFramesBehindIt) {
  put(6);
  const auto later = hold_back(1);
  ASSERT_EQ(later.size(), 5u);
  wait_for_timeout();
  group_.poll(1);
  group_.poll(0);  // the acknowledgement of the first frame
  ASSERT_EQ(group_.dones(0).size(), 1u);
  deliver(later);
  group_.poll(1);
  group_.poll(0);
  EXPECT_EQ(group_.dones(0).size(), 5u);
  group_.run(100, 0, 1'000);
  EXPECT_EQ(group_.stat(0, "retransmits"), 0u);
}

/// The question overtook six frames, so that the first one is repeated. The acknowledgement of its
/// first copy comes sooner than any can come for the repetition.
TEST_F(NicLateAck, OfTheFirstCopySaysNothingOfTheFramesBehindIt) { expect_one_repeat(); }

/// A put that was posted long before the poll that stamps it seems to take next to no time. That is
/// not the least that a round trip takes.
TEST_F(NicLateAck, OfTheFirstCopySaysNothingToAClientThatComputedEither) {
  exchange_while_computing(20);
  expect_one_repeat();
}

/// The same where the acknowledgement is also of a put that is certain to have taken longer.
TEST_F(NicLateAck, OfTheFirstCopySaysNothingToAClientThatPostedBeforeItComputed) {
  exchange_pairs_while_computing(20);
  expect_one_repeat();
}

/// A frame that comes twice is acknowledged at once: the acknowledgement of the first copy may have
/// been lost.
TEST_F(NicLateAck, ThatWasLostIsSentAgainForADuplicate) {
  put(1);
  const auto first = hold_back(0);
  wait_for_timeout();
  group_.poll(1);
  group_.poll(0);
  const auto repetition = hold_back(0);
  ASSERT_EQ(group_.stat(0, "retransmits"), 1u);
  deliver(first);
  group_.poll(1);
  group_.poll(1);
  group_.port(0).lose_waiting();
  deliver(repetition);
  group_.poll(1);
  group_.poll(0);
  EXPECT_EQ(group_.dones(0).size(), 1u);
  EXPECT_EQ(group_.stat(0, "late_asks"), 1u);
}

/// While a frame is missing an acknowledgement is sent for frames that come, and not in each poll.
TEST_F(NicLateAck, OfWhatCameAheadIsSentOnce) {
  put(3);
  const auto held = hold_back(0);
  deliver({held.back()});
  const uint64_t acks = group_.stat(1, "acks_sent");
  for (int polls = 0; polls < 50; ++polls) group_.poll(1);
  EXPECT_EQ(group_.stat(1, "acks_sent"), acks + 1);
}

TEST_F(NicLateAck, OfARepetitionEndsTheWaitForTheRest) {
  put(6);
  hold_back(1);
  wait_for_timeout();
  group_.poll(1);
  group_.poll(0);
  ASSERT_EQ(group_.dones(0).size(), 1u);
  finish(5);
  EXPECT_EQ(group_.stat(0, "timeouts"), 1u) << "one for all that was lost";
}

/// Also in a flow of which frames were overtaken before, and which was never empty since.
TEST_F(NicLateAck, OfARepetitionEndsTheWaitForTheRestAfterAnOvertakenFrame) {
  put(2);
  const auto overtaken = hold_back(0);
  ASSERT_EQ(overtaken.size(), 2u);
  deliver({overtaken.back()});
  for (const Rank rank : {1u, 1u, 0u}) group_.poll(rank);
  put(1);
  const auto first = hold_back(0);
  deliver({overtaken.front()});
  for (const Rank rank : {1u, 1u, 0u}) group_.poll(rank);
  ASSERT_EQ(group_.dones(0).size(), 2u);
  put(5);
  hold_back(0);
  deliver(first);
  wait_for_timeout();
  group_.poll(1);
  group_.poll(0);
  ASSERT_EQ(group_.dones(0).size(), 1u);
  finish(5);
  EXPECT_EQ(group_.stat(0, "timeouts"), 1u) << "one for all that was lost";
}

/// Where the first repetition is lost, too, and the peer is there, a few frames are repeated at
/// once.
TEST_F(NicLateAck, ThatIsMissingTwiceRepeatsAFewFrames) {
  put(10);
  hold_back(0);
  wait_for_timeout();
  group_.poll(1);
  group_.poll(0);
  ASSERT_EQ(group_.stat(0, "retransmits"), 1u);
  hold_back(0);
  wait_for_timeout();
  group_.poll(1);
  group_.poll(0);
  EXPECT_EQ(group_.stat(0, "retransmits"), 1u + 8u);
}

class NicLostAck : public NicLateAck {
 protected:
  void SetUp() override { exchange(4); }
};

/// Lost acknowledgements are not a peer that takes its time.
TEST_F(NicLostAck, DoesNotMakeARankPatient) {
  uint64_t first_ns = 0, last_ns = 0;
  for (int round = 0; round < 6; ++round) {
    put(2);
    group_.poll(1);
    group_.poll(1);
    group_.port(0).lose_waiting();
    last_ns = wait_for_timeout();
    if (round == 0) first_ns = last_ns;
    group_.poll(1);
    group_.clock().advance(1'500);
    group_.poll(0);
    ASSERT_EQ(group_.dones(0).size(), 2u);
  }
  EXPECT_LT(last_ns, first_ns);
}

}  // namespace
}  // namespace pinwire
