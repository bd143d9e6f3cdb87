// Which threads keep a cancellation off, and that it comes afterwards.
#include "core/base/no_cancel.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/support/cancel_state.h"

namespace pinwire {
namespace {

TEST(NoCancel, PutsACancellationOff) {
  std::atomic<bool> is_off{false}, is_cancelled{false}, lives_on{false};
  std::thread thread([&] {
    {
      const NoCancel whole;
      is_off = true;
      while (!is_cancelled) {
      }
      pthread_testcancel();
      lives_on = true;
    }
    pthread_testcancel();
    lives_on = false;  // never reached
  });
  while (!is_off) {
  }
  pthread_cancel(thread.native_handle());
  is_cancelled = true;
  thread.join();
  EXPECT_TRUE(lives_on.load());
}

TEST(NoCancel, LeavesTheStateAsItWas) {
  EXPECT_TRUE(test::may_be_cancelled());
  {
    const NoCancel outer;
    { const NoCancel inner; }
    EXPECT_FALSE(test::may_be_cancelled());
  }
  EXPECT_TRUE(test::may_be_cancelled());
  const NoCancel unwanted(false);
  EXPECT_TRUE(test::may_be_cancelled());
}

TEST(NoCancel, OfTheHottestPlacesIsFreeForALoneCaller) {
  const test::OtherCallers none(false);
  {
    const NoCancelBesideOthers alone;
    EXPECT_TRUE(test::may_be_cancelled());
    has_other_callers = true;  // in its midst
  }
  EXPECT_TRUE(test::may_be_cancelled());
  {
    const NoCancelBesideOthers whole;
    EXPECT_FALSE(test::may_be_cancelled());
    const NoCancelBesideOthers unwanted(false);
  }
  EXPECT_TRUE(test::may_be_cancelled());
}

}  // namespace
}  // namespace pinwire
