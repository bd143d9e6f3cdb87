#include "core/launch/signals.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "core/base/check.h"

namespace pinwire::launch {
namespace {

sigset_t watched() {
  sigset_t set;
  ::sigemptyset(&set);
  for (int number : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::sigaddset(&set, number);
  return set;
}

}  // namespace

void block_signals() {
  const auto set = watched();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

void restore_signals() {
  for (int number : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD}) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

Signals::Signals(Loop& loop, Events events) : loop_(loop), events_(std::move(events)) {
  const auto set = watched();
  fd_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  check(static_cast<bool>(fd_), "no signalfd");
  loop_.watch(fd_.get(), POLLIN, [this](short) { read(); });
}

Signals::~Signals() { loop_.forget(fd_.get()); }

void Signals::read() {
  signalfd_siginfo info{};
  while (::read(fd_.get(), &info, sizeof info) == sizeof info) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGCHLD) {
      events_.child_changed();
    } else {
      events_.user_signal(number, info.ssi_code == SI_KERNEL);
    }
  }
}

}  // namespace pinwire::launch
