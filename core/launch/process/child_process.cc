#include "core/launch/process/child_process.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pinwire::launch {

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this == &other) return *this;
  signal(SIGKILL);
  process_ = std::move(other.process_);
  return *this;
}

std::optional<int> ChildProcess::reap() noexcept {
  if (number() < 0) return std::nullopt;
  int wait_status = 0;
  pid_t reaped;
  do {
    reaped = ::waitpid(number(), &wait_status, WNOHANG);
  } while (reaped < 0 && errno == EINTR);
  if (reaped == 0) return std::nullopt;
  process_.forget();
  return wait_status;
}

Result<pid_t> fork_child() {
  const pid_t child = ::fork();
  if (child >= 0) return child;
  const char* const advice = errno == EAGAIN ? " (too many processes? see ulimit -u)" : "";
  return error("cannot fork: %s%s", ::strerror(errno), advice);
}

std::string how_it_ended(int wait_status) {
  const bool was_killed = WIFSIGNALED(wait_status);
  const int number = was_killed ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
  if (!was_killed) return "ended with code " + std::to_string(number);
  return "was killed by signal " + std::to_string(number) + " (" + ::strsignal(number) + ")";
}

void reap_children(const std::function<bool(pid_t)>& reap_own) {
  for (;;) {
    // WNOWAIT: it keeps its number until it is known whose it is.
    siginfo_t ended{};
    if (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) return;
    if (!reap_own(ended.si_pid)) ::waitpid(ended.si_pid, nullptr, WNOHANG);
  }
}

}  // namespace pinwire::launch
