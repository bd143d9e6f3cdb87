#include "core/launch/janitor.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "core/base/fd_record.h"
#include "core/base/log.h"
#include "core/base/remove_tree.h"
#include "core/launch/job_dir.h"
#include "core/launch/job_mark.h"
#include "core/launch/kept_files.h"
#include "core/launch/process_facts.h"

namespace pinwire::launch {
namespace {

constexpr const char* kJanitorName = "pinwire-janitor";
constexpr int kRoundsMax = 200;
constexpr int kQuietRounds = 2;
constexpr useconds_t kPauseUs = 5000;
constexpr time_t kAnswerS = 20;

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

[[noreturn]] void work(const std::string& parent, int pipe_fd, bool keep_job_dir) {
  ::setsid();
  ::prctl(PR_SET_NAME, kJanitorName);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(number, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);
  close_all_but({pipe_fd});
  const uint64_t hired_ticks = birth_ticks(::getpid());
  // A launcher leaves a child alone that has the name; from here on there is something to sweep.
  auto made = make_job_dir(parent);
  send_record(pipe_fd, made ? made->path : made.sentence(), made ? made->lock.get() : -1);
  if (!made) ::_exit(1);
  char processes_are_gone;
  ssize_t got;
  do {
    got = ::read(pipe_fd, &processes_are_gone, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) kill_processes_of(made->path, hired_ticks);
  if (!keep_job_dir) remove_tree(made->path);
  ::_exit(0);
}

}  // namespace

Result<Janitor> Janitor::hire(const std::string& parent, bool keep_job_dir) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return error("cannot make a socket: %s (too many open files? see ulimit -n)",
                 std::strerror(errno));
  Fd own(ends[0]), others(ends[1]);
  const pid_t process = ::fork();
  if (process < 0)
    return error("cannot fork: %s (too many processes? see ulimit -u)", std::strerror(errno));
  if (process == 0) work(parent, others.get(), keep_job_dir);
  others.reset();
  Janitor made(process, std::move(own), keep_job_dir);
  if (auto heard = made.hear_of_dir(); !heard) {
    made.process_.signal(SIGKILL);
    made.process_.wait();
    remove_stale_job_dirs(parent);  // what it may have made
    return heard.error();
  }
  return made;
}

/// The janitor answers as soon as the file system has made the directory.
Status Janitor::hear_of_dir() {
  const timeval limit{kAnswerS, 0};
  ::setsockopt(pipe_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  auto record = receive_record(pipe_.get());
  if (record.text.empty()) return error("the job's janitor ended before it made a directory");
  if (record.is_cut)
    return error(
        "no descriptor is left for the job's directory (too many open files? see ulimit -n)");
  if (record.fd < 0) return error("%s", record.text.c_str());
  job_dir_ = std::move(record.text);
  lock_.reset(record.fd);
  return success();
}

void Janitor::dismiss(SupervisorLoop& loop, bool processes_are_gone) {
  if (processes_are_gone) [[maybe_unused]]
    const auto wrote = ::write(pipe_.get(), "", 1);
  ::shutdown(pipe_.get(), SHUT_RDWR);  // a child that has not executed its program has a copy
  pipe_.reset();
  process_.signal(SIGCONT);  // one that somebody stopped would be waited for in vain
  loop.watch_children_of(this, [this](pid_t process) { return reap(process); });
  if (!loop.turn_until([this] { return process_.number() < 0; }, kNever)) {
    process_.signal(SIGKILL);
    process_.wait();
  }
  loop.forget_children_of(this);
  if (has_swept_) return;
  if (!processes_are_gone) kill_processes_of(job_dir_);
  if (!keep_job_dir_) remove_tree(job_dir_);
}

bool Janitor::reap(pid_t process) {
  if (process != process_.number()) return false;
  const auto wait_status = process_.reap();
  if (!wait_status) return false;
  has_swept_ = !pipe_ && *wait_status == 0;
  if (pipe_) {
    log_warning(
        "the job's janitor (process %d) %s: were this process killed, too, files of the job "
        "and orphans of its ranks would stay",
        process, how_it_ended(*wait_status).c_str());
  }
  return true;
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
