// Bounds how long one system call may wait for another process, where the kernel has no other way:
// a terminal, for one, knows no RWF_NOWAIT, and takes a part of a long write(2) before it waits for
// the rest. While a CallTimer lives, SIGALRM comes again and again: the one that comes just before
// the call has successors, and the call returns with what it has done, or EINTR.
//
// The signal is SIGALRM, as the launcher ignores that anyhow (core/launch/loop/signals.h): neither
// it nor its children lose a signal that means something. A handler without SA_RESTART and an
// unblocked signal are there for the call alone. The launcher has one thread, which forks nobody
// meanwhile, so that no child gets either of them. The timer is the process's own (setitimer(2)),
// which is never refused, unlike those of timer_create(2), of which RLIMIT_SIGPENDING allows a user
// so many. An alarm that was set before goes on afterwards, late by the time of the call.
#pragma once

#include <signal.h>
#include <sys/time.h>

namespace pinwire::launch {

class CallTimer {
 public:
  explicit CallTimer(int period_ms) noexcept {
    struct sigaction interrupts {};
    interrupts.sa_handler = [](int) {};
    ::sigaction(SIGALRM, &interrupts, &action_before_);
    sigset_t alarm;
    ::sigemptyset(&alarm);
    ::sigaddset(&alarm, SIGALRM);
    ::sigprocmask(SIG_UNBLOCK, &alarm, &mask_before_);
    const timeval period{0, period_ms * 1000};
    const itimerval again{period, period};
    ::setitimer(ITIMER_REAL, &again, &timer_before_);
  }
  /// Leaves errno as the call has set it.
  ~CallTimer() {
    ::setitimer(ITIMER_REAL, &timer_before_, nullptr);
    ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
    ::sigaction(SIGALRM, &action_before_, nullptr);
  }
  CallTimer(const CallTimer&) = delete;
  CallTimer& operator=(const CallTimer&) = delete;

 private:
  struct sigaction action_before_ {};
  sigset_t mask_before_{};
  itimerval timer_before_{};
};

}  // namespace pinwire::launch
