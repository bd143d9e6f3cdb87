#include "am/interrupts.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "am/dispatcher.h"
#include "am/progress.h"
#include "core/base/log.h"
#include "core/engine/client_usage.h"
#include "core/engine/engine.h"
#include "core/interrupts/signal_stack.h"

namespace pinwire {
namespace {

// From prepare_interrupts() on.
int signal_number = 0;
pid_t process = 0;

/// Peers that send faster than a client's handlers run keep it from its own work so long at a time.
/// The dispatcher leaves it as much in between.
constexpr int64_t kDrainUsMax = 1'000;

void look_in_signal() noexcept {
  Drain drain(interrupt_counters.found_in_signals);
  this_client.handshake.on_signal(drain, ask_again);
}

// The kernel keeps the floating-point state, and the mask of signals, of what it interrupts.
void on_interrupt(int) {
  const int errno_before = errno;
  ++interrupt_counters.signals_handled;
  run_on_signal_stack(look_in_signal);
  errno = errno_before;
}

bool is_ours(int number) noexcept {
  struct sigaction now {};
  return sigaction(number, nullptr, &now) == 0 && now.sa_handler == on_interrupt;
}

/// Clients that want a real-time signal count from SIGRTMIN up; who borrows one gives it back with
/// the handler that it had. 0: none is left.
int unused_signal() noexcept {
  for (int number = SIGRTMAX; number >= SIGRTMIN; --number) {
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) != 0) continue;
    if (now.sa_handler == SIG_DFL || now.sa_handler == on_interrupt) return number;
  }
  return 0;
}

void handle(int number) noexcept {
  struct sigaction mine {};
  mine.sa_handler = on_interrupt;
  mine.sa_flags = SA_RESTART | signal_stack_flags;
  sigemptyset(&mine.sa_mask);
  sigaction(number, &mine, nullptr);
}

/// A real-time signal takes a place in a queue, and is refused once the user has RLIMIT_SIGPENDING
/// in it. Those of old are not. This one is ignored by who does not handle it; it is taken once it
/// is needed, and if the client has left it alone.
constexpr int kSpareSignal = SIGURG;
bool take_spare_signal() noexcept {
  struct sigaction now {};
  if (sigaction(kSpareSignal, nullptr, &now) != 0) return false;
  if (now.sa_handler == SIG_DFL) handle(kSpareSignal);
  return is_ours(kSpareSignal);
}

}  // namespace

Status prepare_interrupts() {
  signal_number = unused_signal();
  if (signal_number == 0) {
    return error(
        "GASNET_DISPATCH asks for interrupts, but this program handles all real-time signals "
        "itself; leave one, or say GASNET_DISPATCH=thread");
  }
  process = getpid();
  handle(signal_number);
  prepare_barriers();
  interrupts_clients = true;
  return success();
}

void prepare_thread() noexcept {
  give_signal_stack();
  this_client.has_signal_stack = true;
}

bool keep_signal() noexcept {
  if (signal_number != 0 && is_ours(signal_number)) [[likely]]
    return false;
  const int lost = std::exchange(signal_number, unused_signal());
  if (signal_number != 0) handle(signal_number);
  if (lost == 0) return signal_number != 0;
  if (signal_number != 0) {
    log_warning(
        "the program has taken signal %d, by which GASNET_DISPATCH ran handlers; it runs "
        "them by signal %d now",
        lost, signal_number);
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
  return (signal_number != 0 && send(signal_number)) || (take_spare_signal() && send(kSpareSignal));
}

void refuse_interrupts() noexcept { disable_interrupts(Reason::kLibrary); }

bool Drain::is_long() noexcept {
  const int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
  if (is_long_at_ns_ == 0) is_long_at_ns_ = now_ns + kDrainUsMax * 1000;
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

void ask_again() noexcept { wake_dispatcher_later(); }

void LibraryCall::enter() noexcept {
  engine.thread();  // the first call registers it
  if (!this_client.has_signal_stack) [[unlikely]]
    prepare_thread();
  this_client.handshake.disable(Reason::kLibrary);
}

}  // namespace pinwire
