#include "core/launch/loop/signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>
#include <utility>

#include "core/base/check.h"

namespace pinwire::launch {
namespace {

constexpr int kWatched[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
constexpr int kStops[] = {SIGTSTP, SIGCONT};
/// Each would kill the launcher by default. A write tells of a reader that is gone (SIGPIPE) and of
/// a file that may grow no more (SIGXFSZ), and an alarm means nothing to a launcher.
constexpr int kIgnored[] = {SIGPIPE, SIGXFSZ, SIGALRM};
constexpr int kEnds[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
int end_noted = 0;  // the first of them that ends this process
sigset_t mask_before;
struct sigaction actions_before[std::size(kIgnored)];

/// A signal that was ignored when this process started (nohup, a shell's background job) stays
/// ignored: a signalfd would see it nevertheless.
bool is_ignored(int number) {
  struct sigaction now {};
  return number != SIGCHLD && ::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

/// The set of those `numbers` that are not ignored.
sigset_t set_of(std::span<const int> numbers) {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int number : numbers)
    if (!is_ignored(number)) ::sigaddset(&set, number);
  return set;
}

/// The first of them that has come and is not read yet; 0: none.
int waiting_of(std::span<const int> numbers) noexcept {
  sigset_t pending;
  ::sigemptyset(&pending);
  ::sigpending(&pending);
  const auto first = std::find_if(numbers.begin(), numbers.end(), [&pending](int number) {
    return ::sigismember(&pending, number) == 1;
  });
  return first == numbers.end() ? 0 : *first;
}

}  // namespace

void block_signals() {
  // Programs get the mask that was there before the first call.
  static bool is_again = false;
  const bool is_first = !std::exchange(is_again, true);
  const auto set = set_of(kWatched);
  ::sigprocmask(SIG_BLOCK, &set, is_first ? &mask_before : nullptr);
  ::signal(SIGCHLD, SIG_DFL);  // were it ignored, there would be no wait status
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  for (size_t i = 0; i < std::size(kIgnored); ++i)
    ::sigaction(kIgnored[i], &ignore, is_first ? &actions_before[i] : nullptr);
}

void restore_signals() {
  for (size_t i = 0; i < std::size(kIgnored); ++i)
    ::sigaction(kIgnored[i], &actions_before[i], nullptr);
  ::sigprocmask(SIG_SETMASK, &mask_before, nullptr);
}

EndsBySignal::EndsBySignal() noexcept {
  constexpr int kAtOnce[] = {SIGINT, SIGTERM, SIGHUP};
  const auto ends = set_of(kAtOnce);
  ::sigprocmask(SIG_UNBLOCK, &ends, &before_);
}

EndsBySignal::~EndsBySignal() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

bool asks_for_end(int signal_number) noexcept {
  return std::find(std::begin(kEnds), std::end(kEnds), signal_number) != std::end(kEnds);
}

int end_was_asked() noexcept { return end_noted != 0 ? end_noted : waiting_of(kEnds); }

void note_end(int signal_number) noexcept {
  if (end_noted == 0) end_noted = signal_number;
}

void forget_end() noexcept { end_noted = 0; }

void stop_until_continued() {
  // The kernel drops a SIGCONT that waits when a process is to stop: it would stop for ever.
  constexpr int kGoOn[] = {SIGCONT};
  if (waiting_of(kGoOn) != 0) return;
  sigset_t stop;
  ::sigemptyset(&stop);
  ::sigaddset(&stop, SIGTSTP);
  ::raise(SIGTSTP);
  ::sigprocmask(SIG_UNBLOCK, &stop, nullptr);  // here it stops
  ::sigprocmask(SIG_BLOCK, &stop, nullptr);
}

Signals::Signals(Loop& loop, Events events) : events_(std::move(events)) {
  const auto set = set_of(kWatched);
  fd_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  os_error_ = errno;
  if (!fd_) return;
  watch_ = loop.watch(fd_.get(), POLLIN, [this](short) { read(); });
}

Signals::~Signals() {
  const auto stops = set_of(kStops);
  if (watches_stops_) ::sigprocmask(SIG_UNBLOCK, &stops, nullptr);
}

Status Signals::opened() const {
  if (fd_) return success();
  return error("the kernel tells of no signals: signalfd: %s", std::strerror(os_error_));
}

void Signals::watch_stops() {
  auto all = set_of(kWatched);
  const auto stops = set_of(kStops);
  ::sigprocmask(SIG_BLOCK, &stops, nullptr);
  ::sigorset(&all, &all, &stops);
  check(::signalfd(fd_.get(), &all, 0) == fd_.get(), "no signalfd for stops");
  watches_stops_ = true;
}

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
