#include "bench/flood/numbers/summary.h"

#include <gtest/gtest.h>

namespace pinwire::flood {
namespace {

TEST(Summary, PA017MedianOfAnOddCount) {
  const Summary summary = summarize({5, 1, 4, 2, 3});
  EXPECT_DOUBLE_EQ(summary.median, 3);
  EXPECT_EQ(summary.median_at, 4u);
  EXPECT_DOUBLE_EQ(summary.spread, 2.0 / 3);
}

TEST(Summary, EvenCountTakesTheMiddle) {
  const Summary summary = summarize({10, 40, 20, 30});
  EXPECT_DOUBLE_EQ(summary.median, 25);
  EXPECT_EQ(summary.median_at, 2u);
}

TEST(Summary, OneValueHasNoSpreadAndNoneIsZero) {
  EXPECT_DOUBLE_EQ(summarize({7}).median, 7);
  EXPECT_DOUBLE_EQ(summarize({7}).spread, 0);
  EXPECT_DOUBLE_EQ(summarize({}).median, 0);
}

}  // namespace
}  // namespace pinwire::flood
