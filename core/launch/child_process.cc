#include "core/launch/child_process.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/launch/loop.h"

namespace pinwire::launch {

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this == &other) return *this;
  signal(SIGKILL);
  process_ = std::move(other.process_);
  return *this;
}

std::optional<int> ChildProcess::reap_by(int options) noexcept {
  if (number() < 0) return std::nullopt;
  int wait_status = 0;
  pid_t reaped;
  do {
    reaped = ::waitpid(number(), &wait_status, options);
  } while (reaped < 0 && errno == EINTR);
  if (reaped == 0) return std::nullopt;
  process_.forget();
  return wait_status;
}

std::optional<int> ChildProcess::reap() noexcept { return reap_by(WNOHANG); }

std::optional<int> ChildProcess::reap_within(int64_t limit_ms) noexcept {
  constexpr useconds_t kPauseUs = 2000;
  for (const int64_t deadline = now_ms() + limit_ms; now_ms() < deadline; ::usleep(kPauseUs))
    if (const auto wait_status = reap()) return wait_status;
  return std::nullopt;
}

int ChildProcess::wait() noexcept { return reap_by(0).value_or(0); }

void reap_children(const std::function<bool(pid_t)>& reap_own) {
  for (;;) {
    // WNOWAIT: it keeps its number until it is known whose it is.
    siginfo_t ended{};
    if (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) return;
    if (!reap_own(ended.si_pid)) ::waitpid(ended.si_pid, nullptr, WNOHANG);
  }
}

}  // namespace pinwire::launch
