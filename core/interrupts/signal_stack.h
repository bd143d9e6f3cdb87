// The stack of the handlers that interrupt a client thread. The thread's own may be any: a fibre of
// a few KiB that computes, or an alternate stack for the client's signals (sigaltstack(2)), whose
// room nobody can know from inside. So each thread that may be interrupted has one of the library's
// for that, where the kernel puts the signal's frame, too.
#pragma once

#include <cstddef>

namespace pinwire {

/// What a handler that runs in an interrupt has at least; with the frames of the library below it.
inline constexpr size_t kSignalStackBytes = size_t{1} << 20;

/// Flags for sigaction() of a signal whose handler calls run_on_signal_stack().
extern const int signal_stack_flags;

/// Gives this thread its signal stack, once. A client that has an alternate stack of its own keeps
/// it: the kernel puts its frames there. It maps memory; where there is none the thread stays
/// without, and handlers run where it is.
void give_signal_stack() noexcept;
/// As this thread ends, when it is not to be interrupted any more.
void take_signal_stack() noexcept;

/// In a signal handler: `work()` on this thread's signal stack.
void run_on_signal_stack(void (*work)()) noexcept;

}  // namespace pinwire
