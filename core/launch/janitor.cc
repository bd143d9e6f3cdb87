#include "core/launch/janitor.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "core/launch/job_dir.h"
#include "core/launch/job_mark.h"
#include "core/launch/kept_files.h"
#include "core/launch/process.h"
#include "core/launch/process_facts.h"

namespace pinwire::launch {
namespace {

constexpr const char* kJanitorName = "pinwire-janitor";
constexpr int kRoundsMax = 200;
constexpr int kQuietRounds = 2;
constexpr useconds_t kPauseUs = 5000;

/// Whether any was there.
bool kill_once(const JobMark& mark, uint64_t since_ticks) {
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  bool any = false;
  while (const dirent* entry = proc ? ::readdir(proc.get()) : nullptr) {
    const int process = std::atoi(entry->d_name);
    if (process <= 1 || process == ::getpid()) continue;
    // Held before it is looked at: else another might get its number in between, and die for it.
    const HeldProcess held(process);
    if (birth_ticks(process) >= since_ticks && mark.is_on(process))
      any = held.signal(SIGKILL) || any;
  }
  return any;
}

[[noreturn]] void work(const std::string& job_dir, int pipe_fd, int lock_fd, bool keep_job_dir) {
  ::setsid();
  ::prctl(PR_SET_NAME, kJanitorName);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(number, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);
  close_all_but({pipe_fd, lock_fd});
  const uint64_t hired_ticks = birth_ticks(::getpid());
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
  return Janitor(ChildProcess(process), std::move(pipe->write), keep_job_dir ? "" : job_dir);
}

void Janitor::dismiss(bool processes_are_gone) {
  if (processes_are_gone) [[maybe_unused]]
    const auto wrote = ::write(pipe_.get(), "", 1);
  pipe_.reset();
  const bool has_swept = process_.number() > 0 && process_.wait() == 0;
  if (!has_swept && !removed_dir_.empty()) remove_tree(removed_dir_);
}

bool Janitor::reap(pid_t process) noexcept {
  return process == process_.number() && process_.reap().has_value();
}

bool is_janitor(pid_t process) { return name_of(process) == kJanitorName; }

void kill_processes_of(const std::string& job_dir, uint64_t since_ticks) {
  const JobMark mark(job_dir);
  // A process may fork while the list is read; one that is being killed is still listed; in the
  // middle of execve() it shows no environment. So nobody must be found twice.
  for (int round = 0, quiet = 0; round < kRoundsMax && quiet < kQuietRounds; ++round) {
    quiet = kill_once(mark, since_ticks) ? 0 : quiet + 1;
    ::usleep(kPauseUs);
  }
}

}  // namespace pinwire::launch
