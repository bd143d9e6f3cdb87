#include "bench/flood/host/stop.h"

#include <csignal>
#include <cstdint>

#include "core/base/clock.h"

namespace pinwire::flood {
namespace {

constexpr std::sig_atomic_t kImpatience_s = 1;

volatile std::sig_atomic_t stop_flag = 0;
volatile std::sig_atomic_t asked_flag = 0;  // by another rank
volatile std::sig_atomic_t first_s = 0;     // seconds of a clock, in few bits

/// A terminal and a launcher may both pass one Ctrl-C on: only a later one is a second one.
void on_signal(int signal) {
  const auto now_s = static_cast<std::sig_atomic_t>(monotonic_ns() / 1'000'000'000 & INT32_MAX);
  if (stop_flag == 0) {
    first_s = now_s;
    stop_flag = 1;
  } else if (now_s - first_s > kImpatience_s) {
    ::signal(signal, SIG_DFL);
    ::raise(signal);
  }
}

bool taken(int signal) {
  struct sigaction now = {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_DFL &&
         now.sa_handler != SIG_IGN;
}

}  // namespace

void install_stop_handler() noexcept {
  // A client may not replace a handler of the library (C1-059). If SIGINT has one, then the library
  // turns it into SIGQUIT (C1-104), which a client may always catch.
  const int signal = taken(SIGINT) ? SIGQUIT : SIGINT;
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

bool stop_requested() noexcept { return stop_flag != 0 || asked_flag != 0; }
void request_stop() noexcept { asked_flag = 1; }

}  // namespace pinwire::flood
