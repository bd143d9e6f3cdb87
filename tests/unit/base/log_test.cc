#include "core/base/log.h"

#include <gtest/gtest.h>

#include "core/base/check.h"
#include "core/base/result.h"

namespace pinwire {
namespace {

TEST(LogDeathTest, FatalSaysWhoAndAborts) {
  log_identity(3, 8, "somewhere");
  EXPECT_EXIT(fatal("the %s burned", "roof"), testing::KilledBySignal(SIGABRT),
              "pinwire: rank 3/8 on somewhere: fatal: the roof burned");
}

TEST(LogDeathTest, CheckNamesPlaceAndValues) {
  EXPECT_EXIT(check(1 > 2, "numbers are broken", 1, 2), testing::KilledBySignal(SIGABRT),
              "check failed: numbers are broken \\[1, 2\\] at .*log_test.cc");
}

TEST(Result, HoldsAValueOrASentence) {
  Result<int> good = 5;
  Result<int> bad = error("port %d is down", 7);
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(*good, 5);
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.sentence(), "port 7 is down");
}

}  // namespace
}  // namespace pinwire
