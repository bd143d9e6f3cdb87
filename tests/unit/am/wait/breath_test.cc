#include "am/wait/breath.h"

#include <gtest/gtest.h>

namespace pinwire {
namespace {

constexpr uint64_t kBegin = 5'000'000, kStep = Breath::kEveryUs / 8;

/// When the first breath is due of a thread that yields each kStep from `begin_us` on.
uint64_t first_breath(Breath& breath, uint64_t begin_us) {
  uint64_t now_us = begin_us;
  while (!breath.is_due(now_us) && now_us < begin_us + 100 * Breath::kEveryUs) now_us += kStep;
  return now_us;
}

TEST(Breath, IsDueAfterAWhileOfYields) {
  Breath breath;
  EXPECT_EQ(first_breath(breath, kBegin), kBegin + Breath::kEveryUs);
}

TEST(Breath, IsDueUntilTaken) {
  Breath breath;
  const uint64_t due_us = first_breath(breath, kBegin);
  EXPECT_TRUE(breath.is_due(due_us + kStep));
  breath.was_taken(due_us + kStep);
  EXPECT_EQ(first_breath(breath, due_us + kStep), due_us + kStep + Breath::kEveryUs);
}

TEST(Breath, WhoDidSomethingElseMeanwhileBeginsAnew) {
  Breath breath;
  EXPECT_FALSE(breath.is_due(kBegin));
  const uint64_t back_us = kBegin + 3 * Breath::kEveryUs;
  EXPECT_EQ(first_breath(breath, back_us), back_us + Breath::kEveryUs);
}

}  // namespace
}  // namespace pinwire
