#include "driver/verbs/lane/claim.h"

#include <gtest/gtest.h>

namespace pinwire::verbs {
namespace {

Work work_of(Op op, MessageClass cls) {
  Work work{};
  work.op = op;
  work.cls = cls;
  return work;
}

/// Reply or not comes first: what a handler puts ahead of its reply may take all, too (C1-154).
TEST(Claim, IsByTheClassOfAHandlersWorkAndByTheMessageOfOthers) {
  constexpr Op kWithMessage[] = {Op::kSend, Op::kPutSend};
  constexpr Op kWithout[] = {Op::kPut, Op::kGet, Op::kFetchOp, Op::kCompareSwap, Op::kScatter};
  for (const Op op : kWithMessage) {
    EXPECT_TRUE(has_message(work_of(op, MessageClass::kRequest)));
    EXPECT_EQ(claim_of(work_of(op, MessageClass::kRequest)), Claim::kRequest);
    EXPECT_EQ(claim_of(work_of(op, MessageClass::kReply)), Claim::kReply);
  }
  for (const Op op : kWithout) {
    EXPECT_FALSE(has_message(work_of(op, MessageClass::kRequest)));
    EXPECT_EQ(claim_of(work_of(op, MessageClass::kRequest)), Claim::kOneSided);
    EXPECT_EQ(claim_of(work_of(op, MessageClass::kReply)), Claim::kReply);
  }
}

TEST(Claim, RequestsLeaveAQuarterOneSidedWorkAnEighthAndRepliesNothing_C1_154) {
  for (const uint32_t capacity : {16u, 256u, 8192u}) {
    EXPECT_EQ(left_by(Claim::kRequest, capacity), capacity / 4);
    EXPECT_EQ(left_by(Claim::kOneSided, capacity), capacity / 8);
    EXPECT_EQ(left_by(Claim::kReply, capacity), 0u);
  }
}

TEST(Claim, OneSidedWorkGoesByTheConnectionThatEndsIt) {
  for (const bool is_iwarp : {false, true}) {
    EXPECT_EQ(link_of(Claim::kRequest, is_iwarp), MessageClass::kRequest);
    EXPECT_EQ(link_of(Claim::kReply, is_iwarp), MessageClass::kReply);
  }
  EXPECT_EQ(link_of(Claim::kOneSided, false), MessageClass::kReply);
  EXPECT_EQ(link_of(Claim::kOneSided, true), MessageClass::kRequest)
      << "a message may not overtake the put ahead of it";
}

}  // namespace
}  // namespace pinwire::verbs
