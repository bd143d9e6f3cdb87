// Puts off a pthread_cancel() of the calling thread. A call of the library is never cancelled half
// way: its thread would leave a lane locked, a seat taken, or a record half sent, and every other
// thread would wait for it. Each place in which a client's thread may reach a cancellation point (a
// system call of libc that blocks, or a client's handler, which may do anything) has one of these:
// hot calls there alone, since two of them in each call would cost more than the calls' other
// bookkeeping; rare calls as a whole (RareCall of am/interrupts/interrupts.h).
//
// They nest, and a signal handler may have one: the one below keeps its state.
//
// The hottest places (each turn of a lane) have a NoCancelBesideOthers, which is free while one
// thread alone calls the library: what it would leave locked nobody waits for. Two changes of the
// state cost some 10 ns, a tenth of a turn over DPDK.
#pragma once

#include <pthread.h>

#include <atomic>

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

/// A second thread has called the library, or a thread of the library drives it. Set before that
/// one's first turn; it stays set.
inline constinit std::atomic<bool> has_other_callers{false};

class NoCancelBesideOthers : NoCancel {
 public:
  explicit NoCancelBesideOthers(bool is_wanted = true) noexcept
      : NoCancel(is_wanted && has_other_callers.load(std::memory_order_relaxed)) {}
};

}  // namespace pinwire
