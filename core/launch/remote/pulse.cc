#include "core/launch/remote/pulse.h"

#include <errno.h>
#include <limits.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

#include "core/bootstrap/wire.h"
#include "core/launch/process/kept_files.h"

namespace pinwire::launch {
namespace {

constexpr const char* kPulseName = "pinwire-pulse";

void beat(const std::vector<int>& pipes) {
  const auto frame = bootstrap::frame_header(bootstrap::FrameKind::kAlive, bootstrap::kEveryRank);
  static_assert(sizeof frame <= PIPE_BUF, "the kernel may mix it with frames of the launcher");
  // The pipes do not block: where one is full, what it holds says the same once the agent reads.
  for (const int pipe : pipes)
    [[maybe_unused]] const auto wrote = ::write(pipe, &frame, sizeof frame);
}

[[noreturn]] void work(const std::vector<int>& pipes, int64_t period_ms, pid_t parent) {
  ::setpgid(0, 0);  // out of reach of the terminal's SIGTSTP
  ::prctl(PR_SET_NAME, kPulseName);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGPIPE, SIG_IGN);
  close_all_but(pipes);
  const timespec period{period_ms / 1000, period_ms % 1000 * 1'000'000};
  // The parent may have died before the kernel promised anything.
  while (::getppid() == parent) {
    beat(pipes);
    ::clock_nanosleep(CLOCK_MONOTONIC, 0, &period, nullptr);
  }
  ::_exit(0);
}

}  // namespace

Result<Pulse> Pulse::start(const std::vector<int>& pipes, int64_t period_ms) {
  const pid_t parent = ::getpid();
  auto forked = fork_child();
  if (!forked) return forked.error();
  if (*forked == 0) work(pipes, period_ms, parent);
  return Pulse(ChildProcess(*forked));
}

Pulse::~Pulse() {
  process_.signal(SIGKILL);
  process_.let_go();  // it may be frozen with its cgroup; reap_children() takes it when it ends
}

void Pulse::wake_if_stopped() const noexcept {
  siginfo_t stopped{};
  const auto number = static_cast<id_t>(process_.number());
  if (process_.number() < 0 || ::waitid(P_PID, number, &stopped, WSTOPPED | WNOHANG) != 0) return;
  if (stopped.si_pid != 0) process_.signal(SIGCONT);
}

bool Pulse::reap(pid_t process) noexcept {
  return process == process_.number() && process_.reap().has_value();
}

}  // namespace pinwire::launch
