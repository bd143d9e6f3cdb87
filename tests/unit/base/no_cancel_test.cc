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
/// From here on the process has had a second thread.
void start_a_thread() {
  std::thread([] {}).join();
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
  start_a_thread();
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

#if __has_include(<sys/single_threaded.h>)
/// A sanitizer may have a thread in every process.
#ifdef __SANITIZE_THREAD__
constexpr int kNotAlone = 0;
#else
constexpr int kNotAlone = 4;
#endif
/// In a process of its own, which has one thread. The other one may come in the midst.
TEST(NoCancel, IsFreeWhereThereIsOneThread) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto child = [] {
    if (__libc_single_threaded == 0) _exit(kNotAlone);
    {
      const NoCancel whole;
      if (cancel_state() != PTHREAD_CANCEL_ENABLE) _exit(1);
      start_a_thread();
    }
    if (cancel_state() != PTHREAD_CANCEL_ENABLE) _exit(2);
    const NoCancel whole;
    _exit(cancel_state() == PTHREAD_CANCEL_DISABLE ? 0 : 3);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace pinwire
