#include "nicfw/flow/copied_turns.h"

#include <gtest/gtest.h>

#include <vector>

namespace pinwire {
namespace {

/// All of these sizes are offered and refused, in this order; then the one whose turn it is, is
/// taken. Returns those of so many turns.
std::vector<uint32_t> turns_of(CopiedTurns& turns, const std::vector<uint32_t>& sizes, int count) {
  std::vector<uint32_t> taken;
  for (int i = 0; i < count; ++i) {
    for (const uint32_t frames : sizes) turns.refuse(frames);
    for (const uint32_t frames : sizes) {
      if (!turns.is_turn(frames)) continue;
      taken.push_back(frames);
      EXPECT_EQ(turns.accept(frames), sizes.size() > 1);
      break;
    }
  }
  return taken;
}

TEST(CopiedTurns, GoUpwardsAndBeginAgain) {
  CopiedTurns turns;
  EXPECT_EQ(turns_of(turns, {4, 128, 1, 64, 65, 3}, 8),
            (std::vector<uint32_t>{4, 64, 65, 128, 1, 3, 4, 64}));
}

TEST(CopiedTurns, AreTheSameWhateverIsOfferedFirst) {
  CopiedTurns turns;
  turns.refuse(7);
  EXPECT_EQ(turns_of(turns, {9, 2, 7}, 4), (std::vector<uint32_t>{7, 9, 2, 7}));
}

/// Sizes above 64 frames stand in a second word.
TEST(CopiedTurns, GoUpwardsPastTheSixtyFourth) {
  CopiedTurns turns;
  turns.refuse(40);
  EXPECT_EQ(turns_of(turns, {40, 70, 3}, 4), (std::vector<uint32_t>{40, 70, 3, 40}));
}

TEST(CopiedTurns, OfOneSizeAreNotKept) {
  CopiedTurns turns;
  turns.refuse(5);
  EXPECT_FALSE(turns.accept(5));
}

/// One that found its frames out of turn waits no more.
TEST(CopiedTurns, AreNotForSizesThatWereTaken) {
  CopiedTurns turns;
  turns.refuse(5);
  turns.refuse(6);
  turns.refuse(7);
  EXPECT_TRUE(turns.accept(6));
  EXPECT_TRUE(turns.accept(5));
  EXPECT_TRUE(turns.is_turn(7));
  EXPECT_FALSE(turns.accept(7));
}

TEST(CopiedTurns, AreDueOnceOthersHaveBuiltFifteenFrames) {
  CopiedTurns turns;
  turns.refuse(5);
  turns.lead(10);
  EXPECT_FALSE(turns.is_due());
  EXPECT_TRUE(turns.accept(4));
  EXPECT_FALSE(turns.is_due());
  turns.lead(1);
  EXPECT_TRUE(turns.is_due());
  turns.forget_lead();
  EXPECT_FALSE(turns.is_due());
  turns.lead(300);
  EXPECT_TRUE(turns.is_due());
  turns.refuse(9);
  EXPECT_TRUE(turns.accept(5));
  EXPECT_FALSE(turns.is_due()) << "the next turn has begun";
}

TEST(CopiedTurns, EndWhereNobodyOffersWhatHasItsTurn) {
  CopiedTurns turns;
  turns.refuse(5);
  turns.lead(15);
  int polls = 0;
  for (; turns.is_due(); ++polls) ASSERT_TRUE(turns.pass_poll());
  EXPECT_EQ(polls, 12) << "eight threads offer in turn, and each may come late";
  turns.refuse(6);
  EXPECT_FALSE(turns.is_due()) << "another size";
  turns.refuse(5);
  EXPECT_TRUE(turns.is_due());
  for (polls = 1; turns.pass_poll(); ++polls) ASSERT_LT(polls, 100);
  EXPECT_GE(polls, 8);
}

}  // namespace
}  // namespace pinwire
