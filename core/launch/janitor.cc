#include "core/launch/janitor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>

#include "core/launch/job_dir.h"

namespace pinwire::launch {
namespace {

constexpr const char* kJanitorName = "pinwire-janitor";
constexpr int kRoundsMax = 200;
constexpr int kQuietRounds = 2;
constexpr useconds_t kPauseUs = 5000;

std::string read_file(const std::string& path) {
  std::string text;
  Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char part[16384];
  for (ssize_t got; file && (got = ::read(file.get(), part, sizeof part)) > 0;)
    text.append(part, static_cast<size_t>(got));
  return text;
}

/// When a process was born, in ticks since boot.
uint64_t birth_ticks(const std::string& process) {
  constexpr int kFieldsBefore = 19;  // between the name, which may have blanks, and field 22
  const std::string text = read_file("/proc/" + process + "/stat");
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string skipped;
  for (int field = 0; field < kFieldsBefore; ++field) fields >> skipped;
  uint64_t ticks = 0;
  fields >> ticks;
  return ticks;
}

bool belongs_to(const std::string& process, const std::string& assignment) {
  const std::string environment = '\0' + read_file("/proc/" + process + "/environ");
  return environment.find('\0' + assignment + '\0') != std::string::npos;
}

/// Whether any was there.
bool kill_once(const std::string& assignment, uint64_t since_ticks) {
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  bool any = false;
  while (const dirent* entry = proc ? ::readdir(proc.get()) : nullptr) {
    const int process = std::atoi(entry->d_name);
    if (process <= 1 || process == ::getpid() || birth_ticks(entry->d_name) < since_ticks ||
        !belongs_to(entry->d_name, assignment))
      continue;
    any = ::kill(process, SIGKILL) == 0 || any;
  }
  return any;
}

[[noreturn]] void work(const std::string& job_dir, int pipe_fd, int lock_fd, bool keep_job_dir) {
  ::setsid();
  ::prctl(PR_SET_NAME, kJanitorName);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(number, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);
  // Whoever waits for the end of the launcher's output must not wait for this process.
  const int low = std::min(pipe_fd, lock_fd), high = std::max(pipe_fd, lock_fd);
  if (low > 0) ::close_range(0, static_cast<unsigned>(low - 1), 0);
  if (high - low > 1)
    ::close_range(static_cast<unsigned>(low + 1), static_cast<unsigned>(high - 1), 0);
  ::close_range(static_cast<unsigned>(high + 1), ~0U, 0);
  const uint64_t hired_ticks = birth_ticks("self");
  char processes_are_gone;
  ssize_t got;
  do {
    got = ::read(pipe_fd, &processes_are_gone, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) kill_processes_of(job_dir, hired_ticks);
  if (!keep_job_dir) remove_tree(job_dir);
  ::_exit(0);
}

}  // namespace

Result<Janitor> Janitor::hire(const std::string& job_dir, int lock_fd, bool keep_job_dir) {
  auto pipe = make_pipe();
  if (!pipe) return pipe.error();
  const pid_t process = ::fork();
  if (process < 0)
    return error("cannot fork: %s (too many processes? see ulimit -u)", std::strerror(errno));
  if (process == 0) work(job_dir, pipe->read.get(), lock_fd, keep_job_dir);
  return Janitor(process, std::move(pipe->write));
}

void Janitor::dismiss(bool processes_are_gone) {
  if (processes_are_gone) [[maybe_unused]]
    const auto wrote = ::write(pipe_.get(), "", 1);
  pipe_.reset();
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void kill_processes_of(const std::string& job_dir, uint64_t since_ticks) {
  const std::string assignment = "GASNET_JOB_DIR=" + job_dir;
  // A process may fork while the list is read; one that is being killed is still listed; in the
  // middle of execve() it shows no environment. So nobody must be found twice.
  for (int round = 0, quiet = 0; round < kRoundsMax && quiet < kQuietRounds; ++round) {
    quiet = kill_once(assignment, since_ticks) ? 0 : quiet + 1;
    ::usleep(kPauseUs);
  }
}

bool kill_children(pid_t spared) {
  const std::string list_path = "/proc/self/task/" + std::to_string(::getpid()) + "/children";
  for (int round = 0; round < kRoundsMax; ++round) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    bool any = false;
    const std::string list = read_file(list_path);
    for (const char* at = list.c_str(); *at != '\0';) {
      char* next = nullptr;
      const long process = std::strtol(at, &next, 10);
      if (next == at) break;
      at = next + std::strspn(next, " \n");
      // A janitor here has lost its agent, and is at work.
      const bool janitor = read_file("/proc/" + std::to_string(process) + "/comm") ==
                           std::string(kJanitorName) + "\n";
      if (process <= 1 || process == spared || janitor) continue;
      any = true;
      ::kill(static_cast<pid_t>(process), SIGKILL);
    }
    if (!any) return true;
    ::usleep(kPauseUs);
  }
  return false;
}

}  // namespace pinwire::launch
