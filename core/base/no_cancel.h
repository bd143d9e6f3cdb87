// Puts off a pthread_cancel() of the calling thread. A call of the library is never cancelled half
// way: its thread would leave a lane locked, a seat taken, or a record half sent, and every other
// thread would wait for it. So each place in which a client's thread may reach a cancellation point
// (a system call of libc that blocks, or a client's handler, which may do anything) has one of
// these: hot calls there alone, since two of them in each call would cost more than the calls'
// other bookkeeping; rare calls as a whole (RareCall of am/interrupts.h).
//
// They nest, and a signal handler may have one: the one below keeps its state.
#pragma once

#include <pthread.h>

namespace pinwire {

class NoCancel {
 public:
  explicit NoCancel(bool is_wanted = true) noexcept : is_wanted_(is_wanted) {
    if (is_wanted_) pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_);
  }
  ~NoCancel() {
    if (is_wanted_) pthread_setcancelstate(before_, nullptr);
  }
  NoCancel(const NoCancel&) = delete;
  NoCancel& operator=(const NoCancel&) = delete;

 private:
  const bool is_wanted_;
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace pinwire
