// A process is waited for as long as it gets on, and no longer.
#include "core/launch/process/patience.h"

#include <gtest/gtest.h>

namespace pinwire::launch {
namespace {

constexpr int64_t kLookMs = 1000;

class PatienceTest : public testing::Test {
 protected:
  bool is_at_end(char state, uint64_t ticks) {
    now_ms_ += kLookMs;
    return patience_.is_at_end({state, ticks}, now_ms_);
  }
  int64_t now_ms_ = 0;
  Patience patience_{-1, 0};
};

TEST_F(PatienceTest, EndsWithAStandstill) {
  for (const char state : {'T', 'D', 'S'}) {
    now_ms_ = 0;
    patience_ = Patience(-1, 0);
    EXPECT_FALSE(is_at_end(state, 7)) << "it has had the processor before";
    while (now_ms_ < Patience::kStandstillMs) ASSERT_FALSE(is_at_end(state, 7)) << now_ms_;
    EXPECT_TRUE(is_at_end(state, 7));
  }
}

TEST_F(PatienceTest, LastsWhileItsProcessHasTheProcessorNowAndThen) {
  for (uint64_t look = 0; look < 100; ++look) ASSERT_FALSE(is_at_end('D', look / 5));
}

TEST_F(PatienceTest, LastsWhileItsProcessWaitsForItsTurn) {
  for (int look = 0; look < 100; ++look) ASSERT_FALSE(is_at_end('R', 0));
}

TEST_F(PatienceTest, LastsWhereNothingIsKnownOfItsProcess) {
  for (int look = 0; look < 100; ++look) ASSERT_FALSE(is_at_end('\0', 0));
}

TEST_F(PatienceTest, KnowsWhoWasStopped) {
  is_at_end('T', 0);
  EXPECT_EQ(patience_.why(), "somebody stops it again and again (SIGSTOP, or a debugger)");
  is_at_end('S', 0);
  EXPECT_EQ(patience_.why(), "it waits for something that does not come");
}

}  // namespace
}  // namespace pinwire::launch
