#include "core/base/log.h"

#include <gtest/gtest.h>

#include "core/base/check.h"
#include "core/base/result.h"

namespace pinwire {
namespace {

void say_hooked() noexcept { log_note("the hook has run"); }

/// Each death test is a process of its own, which is the rank.
[[noreturn]] void burn_as_rank() {
  log_identity(3, 8, "somewhere");
  on_fatal(say_hooked);
  fatal("the %s burned", "roof");
}

TEST(LogDeathTest, FatalSaysWhoAndAborts) {
  EXPECT_EXIT(burn_as_rank(), testing::KilledBySignal(SIGABRT),
              "^pinwire: rank 3/8 on somewhere: fatal: the roof burned\n"
              "pinwire: rank 3/8 on somewhere: the hook has run\n");
}

TEST(LogDeathTest, AChildDoesNotSpeakForTheRank) {
  EXPECT_FALSE(is_child_of_rank());
  log_identity(3, 8, "somewhere");
  on_fatal(say_hooked);
  EXPECT_FALSE(is_child_of_rank());
  EXPECT_EXIT(fatal("the %s burned", "roof"), testing::KilledBySignal(SIGABRT),
              "^pinwire: process [0-9]+, a child of rank 3/8 on somewhere: fatal: the roof "
              "burned\n$");
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
