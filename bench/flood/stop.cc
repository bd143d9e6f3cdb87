#include "bench/flood/stop.h"

#include <csignal>

namespace pinwire::flood {
namespace {

volatile std::sig_atomic_t stop_flag = 0;

void on_signal(int) { stop_flag = 1; }

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
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  ::sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

bool stop_requested() noexcept { return stop_flag != 0; }
void request_stop() noexcept { stop_flag = 1; }

}  // namespace pinwire::flood
