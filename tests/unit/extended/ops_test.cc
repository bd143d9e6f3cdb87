#include "extended/ops.h"

#include <gtest/gtest.h>

#include <set>

#include "extended/sync.h"

namespace pinwire {
namespace {

TEST(Ops, SixtyFiveThousandAtOnceAndAllDistinct_C1_224) {
  std::set<pinwire_op*> all;
  for (uint32_t i = 0; i < 65'535; ++i) {
    pinwire_op* op = take_op();
    ASSERT_NE(op, nullptr) << i;
    op->started = 1;
    all.insert(op);
  }
  EXPECT_EQ(all.size(), 65'535u);
  for (pinwire_op* op : all) {
    count_done(op->done);
    EXPECT_EQ(handle_of(op), nullptr);
  }
}

TEST(Ops, AnExhaustedPoolSaysSoAndRecovers) {
  std::vector<pinwire_op*> all;
  while (pinwire_op* op = take_op()) all.push_back(op);
  EXPECT_GE(all.size(), 65'535u);
  EXPECT_EQ(handle_of(all.back()), nullptr);
  all.pop_back();
  pinwire_op* again = take_op();
  EXPECT_NE(again, nullptr);
  all.push_back(again);
  for (pinwire_op* op : all) handle_of(op);
}

TEST(Ops, FinishedWhenAllThatStartedIsDone) {
  pinwire_op op{};
  EXPECT_TRUE(op.finished());
  op.started = 2;
  count_done(op.done);
  EXPECT_FALSE(op.finished());
  count_done(op.done);
  EXPECT_TRUE(op.finished());
}

}  // namespace
}  // namespace pinwire
