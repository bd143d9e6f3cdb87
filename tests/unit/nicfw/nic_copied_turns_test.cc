// Copied puts of several sizes, and records, of one flow: each kind goes on, whichever is offered
// first, while the link carries fewer frames from one poll to the next than the largest needs.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

constexpr uint64_t kRecord = 1'000, kTwoFrames = 2'000, kFourFrames = 5'000, kSevenFrames = 9'000;

class NicCopiedTurns : public testing::Test {
 protected:
  bool post(uint64_t bytes) {
    Work work = put_work(1, source_.data(), bytes, target_.data(), region_.remote_key);
    work.flags = kWorkCopied;
    return group_.post(0, work);
  }
  /// Threads post puts of these sizes, in this order between two polls, whenever the lane takes
  /// one. Returns how many of each it took.
  std::map<uint64_t, int> take_turns(const std::vector<uint64_t>& order) {
    std::map<uint64_t, int> taken;
    for (int round = 0; round < kRounds; ++round) {
      for (const uint64_t bytes : order) {
        while (post(bytes)) ++taken[bytes];
      }
      turn();
    }
    return taken;
  }
  void turn() {
    group_.port(0).set_tx_room(kFramesOfTurn);
    group_.poll(0);
    group_.poll(1);
    group_.dones(0);
  }

  static constexpr int kRounds = 1'000;
  static constexpr uint64_t kFramesOfTurn = 3;
  NicGroup group_{
      {.config = {.window_frames = 16, .coalesce = false}, .memory_medium = {true, true}}};
  std::vector<uint8_t> source_ = byte_pattern(kSevenFrames);
  std::vector<uint8_t> target_ = std::vector<uint8_t>(kSevenFrames);
  Region region_ = group_.pin(1, target_.data(), target_.size());
};

TEST_F(NicCopiedTurns, SmallOnesLeaveTurnsToLargeOnes) {
  auto taken = take_turns({kTwoFrames, kSevenFrames});
  EXPECT_GE(taken[kTwoFrames], 50);
  EXPECT_GE(taken[kSevenFrames], 50);
}

TEST_F(NicCopiedTurns, LargeOnesLeaveTurnsToSmallOnes) {
  auto taken = take_turns({kSevenFrames, kTwoFrames});
  EXPECT_GE(taken[kTwoFrames], 50);
  EXPECT_GE(taken[kSevenFrames], 50);
}

TEST_F(NicCopiedTurns, ThreeSizesAndRecordsGoOnInAnyOrder) {
  std::vector<uint64_t> order = {kRecord, kTwoFrames, kFourFrames, kSevenFrames};
  do {
    auto taken = take_turns(order);
    for (const uint64_t bytes : order) {
      EXPECT_GE(taken[bytes], 10) << bytes << " where " << order[0] << ", " << order[1] << ", "
                                  << order[2] << " come first";
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

constexpr uint64_t kThreeFrames = 4'000, kSixFrames = 8'000;

TEST_F(NicCopiedTurns, FiveSizesGoOnInEachOrderAndItsReverse) {
  std::vector<uint64_t> order = {kTwoFrames, kThreeFrames, kFourFrames, kSixFrames, kSevenFrames};
  for (size_t first = 0; first < 2 * order.size(); ++first) {
    auto taken = take_turns(order);
    for (const uint64_t bytes : order) EXPECT_GE(taken[bytes], 10) << bytes << ", order " << first;
    std::rotate(order.begin(), order.begin() + 1, order.end());
    if (first + 1 == order.size()) std::reverse(order.begin(), order.end());
  }
}

/// Threads share the lane: each polls, and offers puts of its own size, in its turn.
TEST_F(NicCopiedTurns, EachOfFiveThreadsThatPollInTurnGoesOn) {
  const std::vector<uint64_t> sizes = {kTwoFrames, kSixFrames, kThreeFrames, kSevenFrames,
                                       kFourFrames};
  std::map<uint64_t, int> taken;
  for (size_t round = 0; round < 5 * kRounds; ++round) {
    const uint64_t bytes = sizes[round % sizes.size()];
    while (post(bytes)) ++taken[bytes];
    turn();
  }
  for (const uint64_t bytes : sizes) EXPECT_GE(taken[bytes], 50) << bytes;
}

/// A record too long to count as small, of a thread that polls each eighth time.
TEST_F(NicCopiedTurns, ARecordThatIsOfferedEachEighthPollGoesOnBesideCopiedPuts) {
  int taken = 0;
  for (int round = 0; round < kRounds; ++round) {
    while (post(kSevenFrames)) {
    }
    if (round % 8 == 0 && post(kRecord)) ++taken;
    turn();
  }
  EXPECT_GE(taken, 20);
}

/// Eight threads share the lane: each polls, and offers what it has, in its turn.
TEST_F(NicCopiedTurns, OneThatIsOfferedEachEighthPollGoesOnBesideRecords) {
  int taken = 0;
  for (int round = 0; round < kRounds; ++round) {
    if (round % 8 == 0 && post(kSevenFrames)) ++taken;
    while (post(kRecord)) {
    }
    turn();
  }
  EXPECT_GE(taken, 20);
}

/// Its turn ends when it is not offered any more.
TEST_F(NicCopiedTurns, ForOneThatIsGoneOthersWaitAFewPolls) {
  while (post(kTwoFrames)) {
  }
  ASSERT_FALSE(post(kSevenFrames));
  int idle_rounds = 0, idle_rounds_most = 0;
  for (int round = 0; round < kRounds; ++round) {
    turn();
    idle_rounds = post(kTwoFrames) ? 0 : idle_rounds + 1;
    idle_rounds_most = std::max(idle_rounds_most, idle_rounds);
  }
  EXPECT_LE(idle_rounds_most, 16);
}

}  // namespace
}  // namespace pinwire
