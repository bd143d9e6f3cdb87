// Handlers in the midst of a client thread's own work: the signal that runs them, and what keeps it
// off (PA-023 to PA-036). GASNET_DISPATCH=interrupt and watchdog; in the other modes all of this is
// one test of a flag.
#pragma once

#include <cstdint>

#include "core/base/counter.h"
#include "core/base/no_cancel.h"
#include "core/base/out_of_memory.h"
#include "core/base/result.h"
#include "core/interrupts/client_threads.h"

namespace pinwire {

/// Constant from gasnet_attach on. True after a start that failed, too: each ClientCall then looks
/// why (extended/state/failed_start.h).
inline constinit bool interrupts_clients = false;

/// A signal runs handlers wherever it finds its thread (GASNET_INTERRUPT_ANYWHERE), and so no
/// thread of the library does. If false, a signal runs them only in the client's own text
/// (core/interrupts/client_text.h); where it finds the thread elsewhere, in malloc or asleep in
/// read(2), the dispatcher runs them. Constant from prepare_interrupts() on.
inline constinit bool interrupts_anywhere = false;

/// Takes a real-time signal that nobody uses. Before the first client thread is registered.
Status prepare_interrupts();
/// Gives this thread the stack that its interrupts have. Its first call does so, too.
void prepare_thread() noexcept;
/// Takes another signal, and says so, where the client has taken this one since. True: those on
/// their way may be lost. By one thread at a time.
///
/// A client that takes the signal gets one that was on its way; one that sets its action to SIG_DFL
/// meanwhile is killed by it, as by any real-time signal (once in 2,000 times under constant
/// traffic). Nothing here can prevent that: the kernel looks at the action when the thread takes
/// the signal, after this library has looked, and a signal that is sent cannot be called back. Only
/// the signals of old that are ignored by default would spare the client, and programs and language
/// runtimes use those themselves (SIGURG, SIGCHLD, SIGWINCH), which loses their own.
bool keep_signal() noexcept;
/// Signals a thread, which on_signal() may interrupt; by any thread, but one at a time. False:
/// there are too many signals on their way; later there may not be.
bool send_interrupt(const ClientThread& thread) noexcept;
/// All client threads block the signal that is sent, always or in a signal handler of the client's.
bool every_client_blocks_interrupts() noexcept;
/// This thread runs no handler by a signal any more; for the end of a process.
void refuse_interrupts() noexcept;

/// True: a signal found its thread where it could run no handlers, and left them to the dispatcher,
/// which calls this, and is woken.
bool take_handed_over() noexcept;

/// Counts of what client threads did on behalf of the dispatcher; `found`: messages and
/// completions.
struct InterruptCounters {
  SharedCounter signals_handled;
  SharedCounter handed_over;  ///< of them: those that left what they came for to the dispatcher
  SharedCounter found_in_signals;
  SharedCounter found_after_sections;  ///< and locks
  SharedCounter found_after_calls;
};
inline constinit InterruptCounters interrupt_counters;

/// Handles all that is there; then the dispatcher may sleep again. False: more keeps arriving, and
/// the client has waited for long.
class Drain {
 public:
  explicit Drain(SharedCounter& found) noexcept : found_(found) {}
  bool operator()() noexcept;

 private:
  bool is_long() noexcept;

  SharedCounter& found_;
  int64_t is_long_at_ns_ = 0;
};
/// Has the dispatcher look again, and interrupt this thread if need be, once its client has had the
/// processor for a while.
void ask_again() noexcept;

/// Begins a reason for which this thread must not be interrupted.
inline void disable_interrupts(Reason reason) noexcept {
  if (interrupts_clients) [[unlikely]]
    this_client.handshake.disable(reason);
}
/// Ends it. If it was the last one, runs the handlers of what arrived in the meantime.
inline void enable_interrupts(Reason reason) noexcept {
  if (!interrupts_clients) [[likely]]
    return;
  Drain drain(reason == Reason::kLibrary ? interrupt_counters.found_after_calls
                                         : interrupt_counters.found_after_sections);
  this_client.handshake.enable(reason, drain, ask_again);
}

/// A call of the library by client code outside handlers: no signal finds the library half way
/// through something.
class LibraryCall {
 public:
  LibraryCall() noexcept : keeps_off_(interrupts_clients) {
    if (keeps_off_) [[unlikely]]
      enter();
  }
  ~LibraryCall() {
    if (keeps_off_) [[unlikely]]
      enable_interrupts(Reason::kLibrary);
  }
  LibraryCall(const LibraryCall&) = delete;

 private:
  static void enter() noexcept;

  const bool keeps_off_;
};

/// One that is rare, and may reach a system call anywhere.
class RareCall {
 private:
  const NoCancel whole_;
  const LibraryCall inside_;
  const FatalOutOfMemory has_memory_;  // and no handler of a message, which ends with inside_
};

}  // namespace pinwire
