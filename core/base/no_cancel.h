// Puts off a pthread_cancel() of the calling thread. A call of the library is never cancelled half
// way: its thread would leave a lane locked, a seat taken, or a record half sent, and every other
// thread would wait for it. So each place in which a client's thread may reach a cancellation point
// (a system call of libc that blocks, or a client's handler, which may do anything) has one of
// these: hot calls there alone, since two of them in each call would cost more than the calls'
// other bookkeeping; rare calls as a whole (RareCall of am/interrupts.h).
//
// They nest, and a signal handler may have one: the one below keeps its state.
//
// A process of one thread has nobody to cancel it, and saves the two changes of the state: some 3
// of a short message's 120 ns over shared memory. (In it a thread that cancels itself, or that is
// cancelled by one which its own handler has just started, may be cancelled half way.)
#pragma once

#include <pthread.h>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

namespace pinwire {

class NoCancel {
 public:
  explicit NoCancel(bool is_wanted = true) noexcept : is_wanted_(is_wanted && may_be_cancelled()) {
    if (is_wanted_) pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_);
  }
  ~NoCancel() {
    if (is_wanted_) pthread_setcancelstate(before_, nullptr);
  }
  NoCancel(const NoCancel&) = delete;
  NoCancel& operator=(const NoCancel&) = delete;

 private:
  static bool may_be_cancelled() noexcept {
#if __has_include(<sys/single_threaded.h>)
    return __libc_single_threaded == 0;
#else
    return true;
#endif
  }

  const bool is_wanted_;
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace pinwire
