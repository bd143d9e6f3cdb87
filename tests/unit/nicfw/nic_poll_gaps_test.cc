// Clients that poll rarely, and post between their polls.
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

class NicPollGaps : public testing::TestWithParam<uint64_t> {
 protected:
  /// All that has arrived is acknowledged, and the client polls once more.
  void turn() {
    for (int i = 0; i < 3; ++i) group_.poll(1);
    group_.clock().advance(GetParam());
    group_.poll(0);
  }

  NicGroup group_{{.rx_buffers = 2048, .config = {.coalesce = false}}};
};

/// A put before each poll. All that follow the lost one arrive and are acknowledged.
TEST_P(NicPollGaps, FindALossAsSoonAsLaterFramesAreAcknowledged) {
  constexpr uint64_t kLost = 1000;
  uint64_t word = 7, memory = 0;
  const Region region = group_.pin(1, &memory, sizeof memory);
  const auto put = [&](uint64_t cookie) {
    Work work = put_work(1, &word, sizeof word, &memory, region.remote_key);
    work.cookie = cookie;
    ASSERT_TRUE(group_.post(0, work));
  };
  for (uint64_t i = 0; i < 50; ++i) {
    put(i);
    turn();
  }
  group_.dones(0);
  put(kLost);
  group_.port(1).lose_waiting();
  bool is_done = false;
  for (int polls = 0; polls < 10 && !is_done; ++polls) {
    put(0);
    turn();
    for (const Done& done : group_.dones(0)) is_done |= done.cookie == kLost;
  }
  EXPECT_TRUE(is_done);
}

/// Every second frame of a put is lost, and nothing is posted after it.
TEST_P(NicPollGaps, RepeatAllThatIsMissingAtOnce) {
  std::vector<uint8_t> from(20'000), to(20'000);
  const Region region = group_.pin(1, to.data(), to.size());
  ASSERT_TRUE(group_.post(0, put_work(1, from.data(), from.size(), to.data(), region.remote_key)));
  LoopPort& port = group_.port(1);
  std::vector<std::vector<std::byte>> kept;
  for (bool keeps = false; port.waiting() != 0; keeps = !keeps) {
    auto frame = port.take_first();
    if (keeps) kept.push_back(std::move(frame));
  }
  for (const auto& frame : kept) port.inject(frame.data(), static_cast<uint32_t>(frame.size()));
  bool is_done = false;
  for (int polls = 0; polls < 8 && !is_done; ++polls) {
    turn();
    is_done = !group_.dones(0).empty();
  }
  EXPECT_TRUE(is_done);
}

/// All frames of a put are lost but for those that leave later. The answer to the question tells of
/// the first; the others need not wait for a timeout each.
TEST_P(NicPollGaps, RepeatWhatIsLeftAfterATimeout) {
  std::vector<uint8_t> from(20'000), to(20'000);
  const Region region = group_.pin(1, to.data(), to.size());
  ASSERT_TRUE(group_.post(0, put_work(1, from.data(), from.size(), to.data(), region.remote_key)));
  group_.port(1).lose_waiting();
  bool is_done = false;
  for (int polls = 0; polls < 40 && !is_done; ++polls) {
    turn();
    is_done = !group_.dones(0).empty();
  }
  EXPECT_TRUE(is_done);
  EXPECT_LE(group_.stat(0, "timeouts"), 2u);
}

/// Two puts of which the first is overtaken, so that the acknowledgement of the second is there
/// long before that of the first; between them lie more frames than the port gives at once. All
/// have come when the client polls, so that nothing is lost.
class NicPollGapsOfBursts : public NicPollGaps {
 protected:
  void SetUp() override {
    for (int i = 0; i < 50; ++i) {
      ASSERT_TRUE(group_.post(0, put_));
      turn();
    }
    group_.dones(0);
  }
  /// `brings_message`: a message of rank 1 comes with the acknowledgement of the second put.
  void expect_no_repeat(bool brings_message) {
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(group_.post(0, put_));
    ASSERT_EQ(group_.port(1).waiting(), 2u);
    const auto overtaken = group_.port(1).take_first();
    for (int i = 0; i < 2; ++i) group_.poll(1);
    ASSERT_EQ(group_.port(0).waiting(), 1u);
    const auto first = group_.port(0).peek();
    const std::vector<std::byte> copy(first.begin(), first.end());
    const Work message = send_work(0, MessageClass::kRequest, &word_, sizeof word_);
    ASSERT_TRUE(!brings_message || group_.post(1, message));
    for (uint32_t i = 0; i < kFramesBetween; ++i)
      ASSERT_TRUE(group_.port(0).inject(copy.data(), static_cast<uint32_t>(copy.size())));
    group_.port(1).inject(overtaken.data(), static_cast<uint32_t>(overtaken.size()));
    for (int i = 0; i < 2; ++i) group_.poll(1);
    ASSERT_GT(group_.port(0).waiting(), kFramesBetween + 1);
    group_.clock().advance(GetParam());
    for (int i = 0; i < 3; ++i) group_.poll(0);
    EXPECT_EQ(group_.stat(0, "retransmits"), 0u);
    EXPECT_EQ(group_.dones(0).size(), 2u);
    turn();
  }

  static constexpr uint32_t kFramesBetween = 40;
  uint64_t word_ = 7, memory_ = 0;
  const Region region_ = group_.pin(1, &memory_, sizeof memory_);
  const Work put_ = put_work(1, &word_, sizeof word_, &memory_, region_.remote_key);
};

/// The client's poll takes several bursts, and sends between them.
TEST_P(NicPollGapsOfBursts, RepeatNothingThatTheSamePollAcknowledges) {
  for (int i = 0; i < 4; ++i) expect_no_repeat(false);
}

/// Messages of a burst go to the client before the next burst is taken.
TEST_P(NicPollGapsOfBursts, RepeatNothingThatTheNextPollAcknowledges) {
  for (int i = 0; i < 4; ++i) expect_no_repeat(true);
}

/// A port that holds more than a poll takes, after each gap, while acknowledgements go on coming.
TEST_P(NicPollGapsOfBursts, FindALossWhileThePortStaysFull) {
  constexpr uint32_t kGaps = 4, kMoreThanAPollTakes = 2000;
  ASSERT_TRUE(group_.post(0, put_));
  (void)group_.port(1).take_first();
  std::vector<std::byte> copy;
  for (uint32_t gap = 0; gap < kGaps; ++gap) {
    group_.port(0).lose_waiting();  // of the gap before: acknowledgements are the first to come
    ASSERT_TRUE(group_.post(0, put_));
    for (int i = 0; i < 2; ++i) group_.poll(1);
    if (gap == 0) {
      const auto first = group_.port(0).peek();
      copy.assign(first.begin(), first.end());
    }
    while (group_.port(0).waiting() < kMoreThanAPollTakes) {
      if (!group_.port(0).inject(copy.data(), static_cast<uint32_t>(copy.size()))) break;
    }
    group_.clock().advance(GetParam());
    group_.poll(0);
    EXPECT_GT(group_.port(0).waiting(), 0u);
  }
  EXPECT_GT(group_.stat(0, "retransmits"), 0u);
  while (group_.port(0).waiting() > 0) group_.poll(0);
}

/// Nothing comes back from the peer, and what fills the port is of no use. At every sixteenth of
/// such polls the timers run nevertheless, however far the polls lie apart.
TEST_P(NicPollGapsOfBursts, AskAPeerThatIsLateWhileThePortStaysFull) {
  constexpr uint32_t kMoreThanAPollTakes = 600, kPolls = 32;
  ASSERT_TRUE(group_.post(0, put_));
  for (int i = 0; i < 2; ++i) group_.poll(1);
  const auto first = group_.port(0).peek();
  const std::vector<std::byte> stale(first.begin(), first.end());
  group_.poll(0);
  ASSERT_EQ(group_.dones(0).size(), 1u);
  ASSERT_TRUE(group_.post(0, put_));
  std::vector<uint32_t> asked_at;
  for (uint32_t poll = 1; poll <= kPolls; ++poll) {
    while (group_.port(0).waiting() < kMoreThanAPollTakes)
      ASSERT_TRUE(group_.port(0).inject(stale.data(), static_cast<uint32_t>(stale.size())));
    group_.clock().advance(GetParam());
    const uint64_t asks = group_.stat(0, "late_asks");
    group_.poll(0);
    if (group_.stat(0, "late_asks") != asks) asked_at.push_back(poll);
  }
  EXPECT_EQ(asked_at, (std::vector<uint32_t>{16, 32}));
}

/// The first of three puts is overtaken by both others, and its acknowledgement comes last, one
/// poll after that of the third. The former poll is an absence, and the sixteenth in a row that
/// leaves frames in the port, so that timers run.
TEST_P(NicPollGapsOfBursts, RepeatNothingThatTheNextPollAcknowledgesWhenTimersRunNevertheless) {
  constexpr uint32_t kFullPolls = 16, kBurstFrames = 32;
  std::vector<std::vector<std::byte>> puts, answers;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(group_.post(0, put_));
  while (group_.port(1).waiting() != 0) puts.push_back(group_.port(1).take_first());
  ASSERT_EQ(puts.size(), 3u);
  for (const size_t next : {1, 2, 0}) {
    group_.port(1).inject(puts[next].data(), static_cast<uint32_t>(puts[next].size()));
    for (int i = 0; i < 2; ++i) group_.poll(1);
    ASSERT_EQ(group_.port(0).waiting(), 1u);
    answers.push_back(group_.port(0).take_first());
  }
  // Completed work stays with the lane, so that each poll takes one burst.
  for (uint32_t poll = 1, brought = 0; poll <= kFullPolls + 1; ++poll) {
    std::vector<std::byte> frame = answers.front();
    if (poll >= kFullPolls) frame = answers[++brought];
    group_.port(0).lose_waiting();
    group_.port(0).inject(frame.data(), static_cast<uint32_t>(frame.size()));
    while (group_.port(0).waiting() <= kBurstFrames) {
      const auto& stale = answers.front();
      ASSERT_TRUE(group_.port(0).inject(stale.data(), static_cast<uint32_t>(stale.size())));
    }
    group_.clock().advance(poll == kFullPolls ? GetParam() : 100'000);
    group_.poll(0);
    ASSERT_EQ(group_.port(0).waiting(), 1u);
  }
  EXPECT_EQ(group_.stat(0, "retransmits"), 0u);
  EXPECT_EQ(group_.dones(0).size(), 3u);
}

/// Before each pause a put leaves that the peer takes only after it. The first poll after a pause
/// leaves the timers alone: the acknowledgement comes with the next.
TEST_P(NicPollGapsOfBursts, AskNobodyInTheFirstPollAfterEachPause) {
  constexpr uint64_t kPauseNs = 1'000'000'000;
  for (int pause = 0; pause < 4; ++pause) {
    ASSERT_TRUE(group_.post(0, put_));
    group_.poll(0);
    group_.clock().advance(kPauseNs);
    group_.poll(0);
    for (const Rank rank : {1u, 1u, 0u}) group_.poll(rank);
    ASSERT_EQ(group_.dones(0).size(), 1u);
  }
  EXPECT_EQ(group_.stat(0, "late_asks"), 0u);
}

/// A put before each poll, and a peer that does not answer. Later work does not put off the timeout
/// of the oldest frame.
TEST_P(NicPollGaps, AskAPeerThatIsLateWhileTheyPost) {
  uint64_t word = 7, memory = 0;
  const Region region = group_.pin(1, &memory, sizeof memory);
  const Work work = put_work(1, &word, sizeof word, &memory, region.remote_key);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(group_.post(0, work));
    turn();
  }
  const uint64_t asks = group_.stat(0, "late_asks");
  for (int polls = 0; polls < 10; ++polls) {
    ASSERT_TRUE(group_.post(0, work));
    group_.clock().advance(GetParam());
    group_.poll(0);
  }
  EXPECT_GT(group_.stat(0, "late_asks"), asks);
}

INSTANTIATE_TEST_SUITE_P(Gaps, NicPollGaps, testing::Values(190'000, 210'000, 1'000'000));
INSTANTIATE_TEST_SUITE_P(Gaps, NicPollGapsOfBursts, testing::Values(210'000, 1'000'000));

}  // namespace
}  // namespace pinwire
