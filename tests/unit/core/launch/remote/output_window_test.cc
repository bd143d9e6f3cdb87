#include "core/launch/remote/output_window.h"

#include <gtest/gtest.h>

namespace pinwire::launch {
namespace {

TEST(OutputWindow, ItIsUsedUpUntilSomeIsTaken) {
  OutputWindow window;
  window.sent(kOutputWindowBytes - 1);
  EXPECT_FALSE(window.is_used_up());
  window.sent(1);
  EXPECT_TRUE(window.is_used_up());
  window.taken(1);
  EXPECT_FALSE(window.is_used_up());
}

TEST(OutputWindow, MoreThanItHoldsIsTakenWhole) {
  OutputWindow window;
  window.sent(3 * kOutputWindowBytes);  // of ranks that ended
  window.taken(2 * kOutputWindowBytes);
  EXPECT_TRUE(window.is_used_up());
  window.taken(5 * kOutputWindowBytes);  // no agent can tell why
  EXPECT_FALSE(window.is_used_up());
  window.sent(kOutputWindowBytes);
  EXPECT_TRUE(window.is_used_up());
}

TEST(OutputCredit, AnAgentWhoseWindowIsUsedUpIsTold) {
  OutputWindow window;
  OutputCredit credit;
  size_t sent = 0, told = 0;
  for (int round = 0; round < 100'000; ++round) {
    ASSERT_FALSE(window.is_used_up()) << sent;
    window.sent(777);
    credit.came(777);
    sent += 777;
    const auto taken = static_cast<size_t>(credit.take());
    window.taken(taken);
    told += taken;
  }
  EXPECT_LE(sent - told, kOutputWindowBytes / 4);
}

TEST(OutputCredit, ShortLinesAreAnsweredTogether) {
  OutputCredit credit;
  int answers = 0;
  for (int line = 0; line < 10'000; ++line) {
    credit.came(100);
    answers += credit.take() > 0 ? 1 : 0;
  }
  EXPECT_GT(answers, 0);
  EXPECT_LT(answers, 20);
}

}  // namespace
}  // namespace pinwire::launch
