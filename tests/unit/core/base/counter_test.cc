#include "core/base/counter.h"

#include <gtest/gtest.h>

#include <thread>

namespace pinwire {
namespace {

TEST(Counter, ReadsLikeANumber) {
  Counter counter;
  EXPECT_EQ(counter, 0u);
  ++counter;
  counter += 41;
  EXPECT_EQ(counter, 42u);
  const Counter copy = counter;
  ++counter;
  EXPECT_EQ(copy, 42u);
  EXPECT_EQ(copy + counter, 85u);
}

TEST(Counter, AnyThreadReadsWhileOneCounts) {
  constexpr uint64_t kCount = 100'000;
  Counter counter;
  std::thread reader([&] {
    for (uint64_t seen = 0; seen < kCount;) {
      const uint64_t now = counter;
      EXPECT_GE(now, seen);
      seen = now;
    }
  });
  for (uint64_t i = 0; i < kCount; ++i) ++counter;
  reader.join();
}

TEST(Counter, SharedLosesNothing) {
  constexpr uint64_t kCount = 100'000;
  SharedCounter counter;
  const auto work = [&] {
    for (uint64_t i = 0; i < kCount; ++i) ++counter;
    counter += 5;
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(counter, 2 * (kCount + 5));
}

}  // namespace
}  // namespace pinwire
