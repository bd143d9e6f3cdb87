#include "am/interrupts/interrupts.h"

#include <signal.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>

#include "am/interrupts/dispatcher_bell.h"
#include "am/poll/poll.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/no_cancel.h"
#include "core/base/threads/membarrier.h"
#include "core/debug/error_policy.h"
#include "core/engine/engine.h"
#include "core/interrupts/client_text.h"
#include "core/interrupts/linker_lock.h"
#include "core/interrupts/signal_stack.h"

namespace pinwire {
namespace {

// From prepare_interrupts() on.
int interrupt_signal = 0;
pid_t process = 0;

/// Peers that send faster than a client's handlers run keep it from its own work so long at a time.
/// The dispatcher leaves it as much in between.
constexpr int64_t kDrainNsMax = 1'000'000;

void look_in_signal() noexcept {
  Drain drain(interrupt_counters.found_in_signals);
  this_client.handshake.on_signal(drain, ask_again);
}

constinit std::atomic<bool> is_handed_over{false};
void hand_over() noexcept {
  ++interrupt_counters.handed_over;
  is_handed_over.store(true, std::memory_order_release);  // pairs with take_handed_over()
  wake_dispatcher();
}

/// 0 where the library does not know: no text is there.
uintptr_t instruction_of([[maybe_unused]] const ucontext_t& interrupted) noexcept {
#if defined(__x86_64__)
  return static_cast<uintptr_t>(interrupted.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return interrupted.uc_mcontext.pc;
#else
  return 0;
#endif
}

/// A thread that blocks more signals than it did when it first called the library runs a signal
/// handler of the client's, perhaps on top of malloc.
bool may_run_handlers(const ucontext_t& interrupted) noexcept {
  if (interrupts_anywhere) return true;
  return is_client_text(instruction_of(interrupted)) && !holds_linker_lock(this_client.thread_id) &&
         (mask_word(interrupted.uc_sigmask) & ~this_client.usual_mask) == 0;
}

// The kernel keeps the floating-point state, and the mask of signals, of what it interrupts.
// Inside a cancellation point of the client's a cancellation may come at any instruction, here too.
void on_interrupt(int, siginfo_t*, void* interrupted) {
  const NoCancel whole;
  const int errno_before = errno;
  ++interrupt_counters.signals_handled;
  // A signal that the thread blocked when it was registered, and admits now, is a usual one.
  this_client.usual_mask &= mask_word(static_cast<const ucontext_t*>(interrupted)->uc_sigmask);
  if (may_run_handlers(*static_cast<const ucontext_t*>(interrupted))) {
    run_on_signal_stack(look_in_signal);
  } else {
    this_client.handshake.hand_over(hand_over);
  }
  errno = errno_before;
}

bool is_ours(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_interrupt;
}
bool is_ours(int number) noexcept {
  struct sigaction now {};
  return sigaction(number, nullptr, &now) == 0 && is_ours(now);
}

/// Searches from SIGRTMAX down: clients that want a real-time signal count from SIGRTMIN up, and a
/// client that borrows one gives it back with the handler that it had. 0: none is left.
int unused_signal() noexcept {
  for (int number = SIGRTMAX; number >= SIGRTMIN; --number) {
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) != 0) continue;
    if (now.sa_handler == SIG_DFL || is_ours(now)) return number;
  }
  return 0;
}

/// A client's signal handler may leave by siglongjmp(3) what it has interrupted. The client takes
/// that for its own code, so a handler of a message must never be left so: the client's signals
/// wait for the end of an interrupt. Those that end a process, or ask where it hangs, do not wait.
sigset_t signals_that_wait() noexcept {
  sigset_t set = signals_from_outside();
  for (int number = 1; number < SIGRTMAX; ++number) {
    if (number == SIGQUIT || number == SIGTERM || holds(asking_signals, number))
      sigdelset(&set, number);
  }
  return set;
}

void handle(int number) noexcept {
  struct sigaction mine {};
  mine.sa_sigaction = on_interrupt;
  mine.sa_flags = SA_SIGINFO | SA_RESTART | signal_stack_flags;
  mine.sa_mask = signals_that_wait();
  sigaction(number, &mine, nullptr);
}

/// The kernel queues real-time signals, and refuses one once the user has RLIMIT_SIGPENDING in the
/// queue. It does not refuse standard signals. This one is ignored by a process that does not
/// handle it; it is taken once it is needed, and if the client has left it alone.
constexpr int kSpareSignal = SIGURG;
bool take_spare_signal() noexcept {
  struct sigaction now {};
  if (sigaction(kSpareSignal, nullptr, &now) != 0) return false;
  if (now.sa_handler == SIG_DFL) handle(kSpareSignal);
  return is_ours(kSpareSignal);
}

/// The program's text and that which this library is in; objects that register handlers join them.
void claim_client_text() noexcept {
  const bool has_program = add_client_text(reinterpret_cast<const void*>(getauxval(AT_ENTRY)));
  add_client_text(reinterpret_cast<const void*>(&on_interrupt));
  add_mathematics();
  find_linker_lock();
  if (has_program || engine.rank != 0) return;
  log_warning(
      "the program holds malloc itself, as a static one does, so a thread of the library runs the "
      "handlers of messages that arrive outside GASNet calls; GASNET_INTERRUPT_ANYWHERE=yes has "
      "them interrupt the program, which must then not share malloc with them");
}

}  // namespace

Status prepare_interrupts() {
  interrupt_signal = unused_signal();
  if (interrupt_signal == 0) {
    return error(
        "GASNET_DISPATCH asks for interrupts, but this program handles all real-time signals "
        "itself; leave one, or say GASNET_DISPATCH=thread");
  }
  process = getpid();
  handle(interrupt_signal);
  register_thread_barriers();
  if (!interrupts_anywhere) claim_client_text();
  interrupts_clients = true;
  return success();
}

void prepare_thread() noexcept {
  give_signal_stack();
  this_client.has_signal_stack = true;
}

bool keep_signal() noexcept {
  if (interrupt_signal != 0 && is_ours(interrupt_signal)) [[likely]]
    return false;
  const int lost = std::exchange(interrupt_signal, unused_signal());
  if (interrupt_signal != 0) handle(interrupt_signal);
  if (lost == 0) return interrupt_signal != 0;
  if (interrupt_signal != 0) {
    log_warning(
        "the program has taken signal %d, by which GASNET_DISPATCH ran handlers; it runs "
        "them by signal %d now",
        lost, interrupt_signal);
  } else {
    log_warning(
        "the program has taken signal %d, by which GASNET_DISPATCH ran handlers, and all "
        "other real-time signals; leave one, or say GASNET_DISPATCH=thread",
        lost);
  }
  return true;
}

bool send_interrupt(const ClientThread& thread) noexcept {
  const auto send = [&](int number) {
    return syscall(SYS_tgkill, process, thread.thread_id, number) == 0;
  };
  return (interrupt_signal != 0 && send(interrupt_signal)) ||
         (take_spare_signal() && send(kSpareSignal));
}

bool every_client_blocks_interrupts() noexcept {
  return interrupt_signal != 0 && every_client_blocks(interrupt_signal);
}

bool take_handed_over() noexcept {
  return is_handed_over.load(std::memory_order_relaxed) &&
         is_handed_over.exchange(false, std::memory_order_acquire);
}

void refuse_interrupts() noexcept { disable_interrupts(Reason::kLibrary); }

bool Drain::is_long() noexcept {
  const int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
  if (is_long_at_ns_ == 0) is_long_at_ns_ = now_ns + kDrainNsMax;
  return now_ns >= is_long_at_ns_;
}

bool Drain::operator()() noexcept {
  for (;;) {
    const uint32_t found = poll_everything();
    if (found != 0) found_ += found;
    if (is_long()) return false;
    if (found == 0) break;
  }
  wake_dispatcher();
  return true;
}

void ask_again() noexcept { wake_dispatcher_later(kDrainNsMax); }

void LibraryCall::enter() noexcept {
  engine.thread();  // the first call registers it
  if (!this_client.has_signal_stack) [[unlikely]]
    prepare_thread();
  this_client.handshake.disable(Reason::kLibrary);
}

}  // namespace pinwire
