#include "am/interrupts.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "am/dispatcher.h"
#include "am/progress.h"
#include "core/base/log.h"
#include "core/engine/engine.h"

namespace pinwire {
namespace {

int signal_number = 0;

void drain(SharedCounter& counter) noexcept {
  while (const uint32_t found = poll_everything()) counter += found;
  wake_dispatcher();
}
void drain_in_signal() noexcept { drain(interrupt_counters.found_in_signals); }

// The kernel keeps the floating-point state, and the mask of signals, of what it interrupts.
void on_interrupt(int) {
  const int errno_before = errno;
  ++interrupt_counters.signals_handled;
  this_client.handshake.on_signal(drain_in_signal);
  errno = errno_before;
}

/// 0: none is left.
int unused_signal() noexcept {
  for (int number = SIGRTMIN + 1; number < SIGRTMAX; ++number) {
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) return number;
  }
  return 0;
}

}  // namespace

Status prepare_interrupts() {
  signal_number = unused_signal();
  if (signal_number == 0) {
    return error(
        "GASNET_DISPATCH asks for interrupts, but this program handles all real-time signals "
        "itself; leave one, or say GASNET_DISPATCH=thread");
  }
  struct sigaction mine {};
  mine.sa_handler = on_interrupt;
  mine.sa_flags = SA_RESTART;
  sigemptyset(&mine.sa_mask);
  sigaction(signal_number, &mine, nullptr);
  prepare_barriers();
  interrupts_clients = true;
  return success();
}

void send_interrupt(const ClientThread& thread) noexcept {
  syscall(SYS_tgkill, getpid(), thread.thread_id, signal_number);
}

void refuse_interrupts() noexcept { disable_interrupts(Reason::kLibrary); }

void drain_after_section() noexcept { drain(interrupt_counters.found_after_sections); }
void drain_after_call() noexcept { drain(interrupt_counters.found_after_calls); }

void LibraryCall::enter() noexcept {
  engine.thread();  // the first call registers it
  this_client.handshake.disable(Reason::kLibrary);
}

}  // namespace pinwire
