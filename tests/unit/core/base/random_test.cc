#include "core/base/random.h"

#include <gtest/gtest.h>

namespace pinwire {
namespace {

TEST(Random, SameSeedSameSequence) {
  Random a(42), b(42), c(43);
  bool differs = false;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t x = a.next();
    EXPECT_EQ(x, b.next());
    differs |= x != c.next();
  }
  EXPECT_TRUE(differs);
}

TEST(Random, ChanceFollowsItsProbability) {
  Random random(7);
  int hits = 0;
  for (int i = 0; i < 100000; ++i) hits += random.chance(0.25) ? 1 : 0;
  EXPECT_NEAR(hits, 25000, 1000);  // 7 sigma; the seed is fixed, so this never flakes
  EXPECT_FALSE(random.chance(0.0));
}

}  // namespace
}  // namespace pinwire
