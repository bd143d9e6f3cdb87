// Which threads keep a cancellation off, and that it comes afterwards.
#include "core/base/no_cancel.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace pinwire {
namespace {

int cancel_state() {
  int state = -1;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  pthread_setcancelstate(state, nullptr);
  return state;
}
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
  EXPECT_EQ(cancel_state(), PTHREAD_CANCEL_ENABLE);
  {
    const NoCancel outer;
    { const NoCancel inner; }
    EXPECT_EQ(cancel_state(), PTHREAD_CANCEL_DISABLE);
  }
  EXPECT_EQ(cancel_state(), PTHREAD_CANCEL_ENABLE);
  const NoCancel unwanted(false);
  EXPECT_EQ(cancel_state(), PTHREAD_CANCEL_ENABLE);
}

TEST(NoCancel, OfTheHottestPlacesIsFreeForALoneCaller) {
  has_other_callers = false;
  {
    const NoCancelBesideOthers alone;
    EXPECT_EQ(cancel_state(), PTHREAD_CANCEL_ENABLE);
    has_other_callers = true;  // in its midst
  }
  EXPECT_EQ(cancel_state(), PTHREAD_CANCEL_ENABLE);
  {
    const NoCancelBesideOthers whole;
    EXPECT_EQ(cancel_state(), PTHREAD_CANCEL_DISABLE);
    const NoCancelBesideOthers unwanted(false);
  }
  EXPECT_EQ(cancel_state(), PTHREAD_CANCEL_ENABLE);
  has_other_callers = false;
}

}  // namespace
}  // namespace pinwire
