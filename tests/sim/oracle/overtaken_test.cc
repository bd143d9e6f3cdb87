// Which frames the oracle counts as overtaken and acknowledged late.
#include "tests/sim/oracle/overtaken.h"

#include <gtest/gtest.h>

namespace pinwire::sim {
namespace {

constexpr uint64_t kStartNs = 1'000'000;
constexpr uint64_t kLateNs = kStartNs + Overtaken::kWaitNs + 1;

class OvertakenTest : public testing::Test {
 protected:
  Overtaken overtaken_;
};

TEST_F(OvertakenTest, FramesBehindTheOneThatWasToldCountWhenTheNextAnswerIsLate) {
  overtaken_.take(0, 3);
  EXPECT_EQ(overtaken_.answer(0, kStartNs), 0u);
  overtaken_.take(0, 1);
  overtaken_.take(0, 2);
  EXPECT_EQ(overtaken_.answer(0, kLateNs), 2u);
  EXPECT_EQ(overtaken_.answer(0, 2 * kLateNs), 0u) << "each of them once";
}

TEST_F(OvertakenTest, AnAnswerInTimeExplainsNothing) {
  overtaken_.take(0, 2);
  EXPECT_EQ(overtaken_.answer(0, kStartNs), 0u);
  overtaken_.take(0, 1);
  EXPECT_EQ(overtaken_.answer(0, kLateNs - 1), 0u);
}

TEST_F(OvertakenTest, AGapOfWhichThePeerHasNotHeardExplainsNothing) {
  EXPECT_EQ(overtaken_.answer(0, kStartNs), 0u);
  overtaken_.take(0, 2);
  overtaken_.take(0, 1);
  EXPECT_EQ(overtaken_.answer(0, kLateNs), 0u);
}

TEST_F(OvertakenTest, FramesInTheirOrderAndThoseOfOthersDoNotCount) {
  overtaken_.take(0, 2);
  EXPECT_EQ(overtaken_.answer(0, kStartNs), 0u);
  EXPECT_EQ(overtaken_.answer(1, kStartNs), 0u);
  overtaken_.take(0, 3);
  overtaken_.take(1, 1);
  EXPECT_EQ(overtaken_.answer(0, kLateNs), 0u);
  EXPECT_EQ(overtaken_.answer(1, kLateNs), 0u);
}

}  // namespace
}  // namespace pinwire::sim
