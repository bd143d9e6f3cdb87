#include "core/debug/error_policy.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

#include "core/base/log.h"
#include "core/debug/backtrace.h"
#include "core/debug/freeze.h"

namespace pinwire {
namespace {

constexpr int kFatalSignals[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};

ErrorPolicy the_policy;
std::atomic<pid_t> dying_thread{0};

/// True for the first thread that dies; the others wait for it to end the process. A thread that
/// fails once more while it reports gets false.
bool dies_first() noexcept {
  pid_t nobody = 0;
  const pid_t thread = gettid();
  if (dying_thread.compare_exchange_strong(nobody, thread)) return true;
  while (nobody != thread) pause();
  return false;
}

void explain() noexcept {
  print_backtrace_if_asked(STDERR_FILENO);
  freeze_if_asked();
}

void on_fatal_error() noexcept {
  if (dies_first()) explain();
}

void on_fatal_signal(int number, siginfo_t*, void*) {
  const int error_before = errno;
  // A child that the client forked dies as any other program does.
  if (!is_child_of_rank() && dies_first()) {
    log_note("fatal: caught SIG%s (%d)", sigabbrev_np(number), number);
    explain();
  }
  signal(number, SIG_DFL);
  raise(number);  // blocked in here: comes on return
  errno = error_before;
}

void on_backtrace_signal(int) {
  const int error_before = errno;
  log_note("a backtrace, as GASNET_BACKTRACE_SIGNAL asks");
  print_backtrace(STDERR_FILENO);
  errno = error_before;
}

void on_freeze_signal(int) {
  const int error_before = errno;
  freeze("as GASNET_FREEZE_SIGNAL asks");
  errno = error_before;
}

void take_signal(int number, void (*action)(int)) noexcept {
  if (number == 0) return;
  struct sigaction mine {};
  mine.sa_handler = action;
  mine.sa_flags = SA_RESTART | SA_ONSTACK;
  sigemptyset(&mine.sa_mask);
  sigaction(number, &mine, nullptr);
}

/// A client's own action, or a sanitizer's, stays.
void take_fatal_signal(int number) noexcept {
  struct sigaction now {};
  if (sigaction(number, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) return;
  struct sigaction mine {};
  mine.sa_sigaction = on_fatal_signal;
  mine.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&mine.sa_mask);
  sigaction(number, &mine, nullptr);
}

}  // namespace

void set_error_policy(const ErrorPolicy& policy) noexcept {
  the_policy = policy;
  on_fatal(on_fatal_error);
  for (const int number : kFatalSignals)
    if (!holds(policy.left_alone, number)) take_fatal_signal(number);
  take_signal(policy.backtrace_signal, on_backtrace_signal);
  take_signal(policy.freeze_signal, on_freeze_signal);
  for (const int number : {policy.backtrace_signal, policy.freeze_signal}) {
    if (number != 0) asking_signals |= SignalSet{1} << number;
  }
}

int print_backtrace_if_asked(int fd) noexcept {
  return the_policy.backtrace ? print_backtrace(fd) : -1;
}

void freeze_if_asked() noexcept {
  if (the_policy.freeze) freeze("as GASNET_FREEZE_ON_ERROR asks");
}

}  // namespace pinwire
