#include "am/interrupts/hsl.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "core/base/check.h"

namespace pinwire {
namespace {

TEST(Hsl, ExcludesThreads_C1_191) {
  uint32_t word = 0;
  uint64_t shared = 0;  // torn or lost increments would show, and TSan would speak
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        hsl_lock(word);
        ++shared;
        hsl_unlock(word);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(shared, 80000u);
  EXPECT_EQ(word, 0u);
}

TEST(Hsl, TryLockNeverWaits_C1_192) {
  uint32_t word = 0;
  EXPECT_TRUE(hsl_try_lock(word));
  if constexpr (kUsageChecks) {
    EXPECT_DEATH(hsl_try_lock(word), "already holds");
  } else {
    EXPECT_FALSE(hsl_try_lock(word));
  }
  hsl_unlock(word);
  EXPECT_TRUE(hsl_try_lock(word));
  hsl_unlock(word);
}

TEST(HslDeathTest, UnlockOfAFreeLockDies_C1_194) {
  uint32_t word = 0;
  EXPECT_DEATH(hsl_unlock(word), kUsageChecks ? "does not hold" : "not locked");
}

}  // namespace
}  // namespace pinwire
