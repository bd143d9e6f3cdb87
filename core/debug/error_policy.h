// The policy of a process for its own fatal errors and signals before it dies of them, and about
// the two signals that ask for a backtrace or a freeze.
#pragma once

#include <cstdint>

namespace pinwire {

/// Signal N is bit N.
using SignalSet = uint64_t;
constexpr bool holds(SignalSet set, int signal_number) noexcept {
  return (set >> signal_number & 1) != 0;
}

struct ErrorPolicy {
  bool backtrace = false;    ///< on fatal errors and signals
  bool freeze = false;       ///< on fatal errors and signals
  int backtrace_signal = 0;  ///< 0: none
  int freeze_signal = 0;     ///< 0: none
  SignalSet left_alone = 0;  ///< fatal signals that keep their default action
};

/// Takes SIGABRT, SIGBUS, SIGFPE, SIGILL and SIGSEGV where their action is the default one: the
/// process says which came, does what the policy asks for, and then dies of it. Backtraces are
/// prepared by then.
void set_error_policy(const ErrorPolicy& policy) noexcept;

/// The signals of the policy that ask for a backtrace or a freeze.
inline constinit SignalSet asking_signals = 0;

/// The action that the policy asks for on fatal errors; 0 if it asks for a backtrace and one was
/// written.
int print_backtrace_if_asked(int fd) noexcept;
void freeze_if_asked() noexcept;

}  // namespace pinwire
