#include "core/launch/signals.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "core/base/check.h"

namespace pinwire::launch {
namespace {

constexpr int kWatched[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
sigset_t mask_before;
struct sigaction pipe_before;

/// A signal that whoever started us ignores (nohup, a shell's background job) stays ignored: a
/// signalfd would see it nevertheless.
bool is_ignored(int number) {
  struct sigaction now {};
  return number != SIGCHLD && ::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

sigset_t watched() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : kWatched)
    if (!is_ignored(number)) ::sigaddset(&set, number);
  return set;
}

}  // namespace

void block_signals() {
  const auto set = watched();
  ::sigprocmask(SIG_BLOCK, &set, &mask_before);
  ::signal(SIGCHLD, SIG_DFL);  // were it ignored, there would be no wait status
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &pipe_before);
}

void restore_signals() {
  ::sigaction(SIGPIPE, &pipe_before, nullptr);
  ::sigprocmask(SIG_SETMASK, &mask_before, nullptr);
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
