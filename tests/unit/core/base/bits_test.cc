#include "core/base/bits.h"

#include <gtest/gtest.h>

namespace pinwire {
namespace {

TEST(Bits, RoundUpReachesTheNextMultiple) {
  EXPECT_EQ(round_up(0u, 48u), 0u);
  EXPECT_EQ(round_up(1u, 48u), 48u);
  EXPECT_EQ(round_up(48u, 48u), 48u);
  EXPECT_EQ(align_up(65u, 64u), 128u);
}

TEST(Bits, InsideRejectsWrapAround) {
  EXPECT_TRUE(inside(100, 0, 100, 0));
  EXPECT_TRUE(inside(100, 10, 100, 10));
  EXPECT_FALSE(inside(100, 11, 100, 10));
  EXPECT_FALSE(inside(99, 1, 100, 10));
  EXPECT_FALSE(inside(~uint64_t{0} - 3, 8, 100, 10));
  EXPECT_FALSE(inside(105, ~uint64_t{0}, 100, 10));
}

TEST(Bits, SequenceOrderWraps) {
  EXPECT_TRUE(seq_before(0xffffffffu, 0u));
  EXPECT_FALSE(seq_before(0u, 0xffffffffu));
  EXPECT_FALSE(seq_before(7u, 7u));
}

}  // namespace
}  // namespace pinwire
