#include "nicfw/flow/replay_window.h"

#include <gtest/gtest.h>

#include <set>

#include "core/base/random.h"

namespace pinwire {
namespace {

constexpr uint32_t kFrames = ReplayWindow::kFrames;

TEST(ReplayWindow, TakesEachNumberOnceInAnyOrder) {
  ReplayWindow window;
  EXPECT_TRUE(window.mark(0));
  EXPECT_TRUE(window.mark(2));
  EXPECT_TRUE(window.mark(1));
  for (uint64_t number = 0; number < 3; ++number) EXPECT_FALSE(window.mark(number));
}

TEST(ReplayWindow, RefusesWhatIsTooOldToTell) {
  ReplayWindow window;
  EXPECT_TRUE(window.mark(kFrames));
  EXPECT_TRUE(window.mark(1));
  EXPECT_FALSE(window.mark(0)) << "kFrames others have overtaken it";
  EXPECT_TRUE(window.mark(10 * kFrames));
  EXPECT_FALSE(window.mark(kFrames));
  EXPECT_TRUE(window.mark(10 * kFrames - 1));
}

/// Against a set of all numbers, with jumps of every size.
TEST(ReplayWindow, AgreesWithASetOfNumbers) {
  Random random(5);
  for (int run = 0; run < 200; ++run) {
    ReplayWindow window;
    std::set<uint64_t> seen;
    uint64_t next = random.next() >> 20;
    window.start(next);
    for (uint64_t n = next - std::min<uint64_t>(next, kFrames); n < next; ++n) {
      if (random.chance(0.5) && window.mark(n)) seen.insert(n);
    }
    for (int i = 0; i < 500; ++i) {
      const uint64_t jump = random.chance(0.1) ? random.below(3 * kFrames) : random.below(8);
      const bool old = random.chance(0.6);
      const uint64_t back = random.below(kFrames + 10);
      const uint64_t number = old ? next - std::min(next, back) : next + jump;
      const bool too_old = number < next && next - number > kFrames;
      EXPECT_EQ(window.mark(number), !too_old && seen.insert(number).second) << number;
      next = std::max(next, number + 1);
    }
  }
}

TEST(ReplayWindow, InfersTheUpperHalfNearestToTheNextNumber) {
  ReplayWindow window;
  window.start((uint64_t{5} << 32) + 3);
  EXPECT_EQ(window.high_half(3), 5u);
  EXPECT_EQ(window.high_half(0xffffff00), 4u);
  EXPECT_EQ(window.high_half(0x7fffffff), 5u);
  window.start((uint64_t{5} << 32) + 0xfffffff0);
  EXPECT_EQ(window.high_half(0xffffffe0), 5u);
  EXPECT_EQ(window.high_half(2), 6u);
}

}  // namespace
}  // namespace pinwire
