// The stack of the handlers that interrupt a client thread. The thread's own may be any: a fibre of
// a few KiB that computes, or an alternate stack for the client's signals (sigaltstack(2)), whose
// room nobody can know from inside. Each thread that may be interrupted therefore has one of the
// library's for that, where the kernel puts the signal's frame, too.
#pragma once

#include <signal.h>

#include <cstddef>

namespace pinwire {

/// The stack of an interrupt has so many bytes: the handler has what the library's frames leave.
inline constexpr size_t kSignalStackBytes = size_t{1} << 20;

/// Flags for sigaction() of a signal whose handler calls run_on_signal_stack().
extern const int signal_stack_flags;

/// All signals but those by which the kernel says that the thread itself has done something wrong.
sigset_t signals_from_outside() noexcept;

/// Gives this thread its signal stack, once. A client that has an alternate stack of its own keeps
/// it: the kernel puts its frames there. It maps memory; where there is none the thread stays
/// without, and handlers run where it is.
void give_signal_stack() noexcept;
/// Gives it back. The thread ends, and is not to be interrupted any more.
void take_signal_stack() noexcept;

/// Runs `work()` on this thread's signal stack; called by a signal handler.
void run_on_signal_stack(void (*work)()) noexcept;

}  // namespace pinwire
