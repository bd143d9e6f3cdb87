#include "core/launch/sweep/janitor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <utility>
#include <vector>

#include "core/base/descriptors/fd_record.h"
#include "core/base/descriptors/no_descriptor.h"
#include "core/base/log.h"
#include "core/launch/hosts/this_host.h"
#include "core/launch/loop/signals.h"
#include "core/launch/process/kept_files.h"
#include "core/launch/process/process.h"
#include "core/launch/process/process_facts.h"
#include "core/launch/sweep/janitor_mark.h"
#include "core/launch/sweep/job_dir.h"
#include "core/launch/sweep/sweep.h"

namespace pinwire::launch {
namespace {

constexpr int kBegunMax = 3;

void ignore_signals() {
  ::setsid();
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(number, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);
}

/// Finishes what dead jobs left, in a process of its own that nobody waits for, as it takes as long
/// as there is much of it. One that is killed leaves the rest to the next job. Returns its number.
pid_t finish_left_beside(const std::string& parent, const std::vector<std::string>& left) {
  const pid_t process = ::fork();
  if (process != 0) return process;
  ::prctl(PR_SET_NAME, "pinwire-sweeper");
  close_all_but({});
  finish_left_over(left);
  remove_stale_rank_dirs(parent);
  ::_exit(0);
}

/// The little that most dead jobs left is gone when a job ends, however short that is.
void wait_a_moment_for(pid_t process) {
  constexpr int kLooks = 250, kLookUs = 2000;
  for (int look = 0; look < kLooks && ::waitpid(process, nullptr, WNOHANG) == 0; ++look)
    ::usleep(kLookUs);
}

[[noreturn]] void work(const std::string& parent, int pipe_fd, bool keep_job_dir) {
  ignore_signals();
  close_all_but({pipe_fd});
  // From here on a launcher that adopts this process leaves it alone: there is something to sweep.
  become_janitor();
  const uint64_t hired_ticks = birth_ticks(::getpid());
  const auto left = kill_stale_jobs(parent);
  auto made = make_job_dir(parent, keep_job_dir);
  if (!made) {  // they may have filled the file system
    finish_left_over(left);
    made = make_job_dir(parent, keep_job_dir);
  }
  send_record(pipe_fd, made ? made->path : made.sentence(), made ? made->lock_fd : -1);
  if (!made) ::_exit(1);
  ::signal(SIGCHLD, SIG_IGN);  // no zombie is left of the next
  const pid_t sweeper = finish_left_beside(parent, left);
  char processes_are_gone;
  ssize_t got;
  do {
    got = ::read(pipe_fd, &processes_are_gone, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) kill_processes_of(made->path, hired_ticks);
  const auto finished = finish_locked_dir(made->path);
  wait_a_moment_for(sweeper);
  ::_exit(finished ? 0 : 1);  // a second sweep says what stays
}

/// After a janitor that was killed, or could not remove all: the launcher must not wait for a file
/// system itself, as no signal would end that.
[[noreturn]] void work_again(const std::string& job_dir, int pipe_fd, bool processes_are_gone) {
  ignore_signals();
  close_all_but({pipe_fd});
  become_janitor();
  if (!processes_are_gone) kill_processes_of(job_dir);
  const auto finished = finish_locked_dir(job_dir);
  if (!finished) send_record(pipe_fd, finished.sentence(), -1);
  ::_exit(finished ? 0 : 1);
}

}  // namespace

Janitor::Janitor(SupervisorLoop& loop, const std::string& parent, bool keep_job_dir, Ready ready)
    : loop_(loop),
      parent_(parent),
      keep_job_dir_(keep_job_dir),
      ready_(std::move(ready)),
      children_(loop.watch_children([this](pid_t process) { return reap(process); })) {
  answer_.heard(now_ms());
}

Janitor::~Janitor() {
  close_pipe();
  process_.let_go();  // one that was not stopped sweeps up by itself
}

void Janitor::close_pipe() {
  if (!pipe_) return;
  pipe_watch_.reset();
  ::shutdown(pipe_.get(), SHUT_RDWR);  // a child that has not executed its program has a copy
  pipe_.reset();
}

Result<std::unique_ptr<Janitor>> Janitor::start(SupervisorLoop& loop, const std::string& parent,
                                                bool keep_job_dir, Ready ready) {
  std::unique_ptr<Janitor> made(new Janitor(loop, parent, keep_job_dir, std::move(ready)));
  if (auto begun = made->begin(); !begun) return begun.error();
  return made;
}

Result<std::unique_ptr<Janitor>> Janitor::start_and_wait(SupervisorLoop& loop,
                                                         const std::string& parent,
                                                         bool keep_job_dir) {
  std::optional<Status> known;
  auto running = start(loop, parent, keep_job_dir, [&known](Status made) { known = made; });
  if (!running) return running.error();
  const bool in_time = loop.turn_until([&known] { return known.has_value(); }, kAnswerMs);
  if (!in_time && loop.end_asked() != 0) return error("interrupted before the job had a directory");
  if (!in_time) (*running)->give_up_answer();
  if (!*known) return known->error();
  return running;
}

/// The janitor answers as soon as the file system has made the directory.
Status Janitor::begin() {
  auto sockets = make_socket_pair("the job's janitor");
  if (!sockets) return sockets.error();
  auto forked = fork_child();
  if (!forked) return forked.error();
  if (*forked == 0) work(parent_, sockets->second.get(), keep_job_dir_);
  ++begun_;
  process_ = ChildProcess(*forked);
  pipe_ = std::move(sockets->first);
  pipe_watch_ = loop_.loop().watch(pipe_.get(), POLLIN, [this](short) { hear(); });
  return success();
}

void Janitor::hear() {
  if (!ready_) return pipe_watch_.set_events(0);  // its end: reap() tells
  auto record = receive_record(pipe_.get(), MSG_DONTWAIT);
  if (record.text.empty()) {
    if (record.os_error == 0) pipe_watch_.set_events(0);
    return;  // after an error the loop asks again: the answer may still come
  }
  if (record.is_cut)
    return tell(
        error("no descriptor is left for the job's directory: %s", no_descriptor(EMFILE).c_str()));
  if (record.fd < 0) return tell(error("%s", record.text.c_str()));
  job_dir_ = std::move(record.text);
  lock_.reset(record.fd);
  tell(success());
}

void Janitor::tell(Status made) {
  if (auto ready = std::exchange(ready_, nullptr)) ready(std::move(made));
}

void Janitor::due(int64_t now_ms) {
  if (ready_ && answer_.is_too_long(now_ms)) give_up_answer();
}

void Janitor::give_up_answer() {
  close_pipe();  // it removes what it may still make
  process_.let_go();
  tell(error(
      "the job's janitor has made no directory in %s for %lld s: does its file system "
      "answer, or do processes of dead jobs not die there? (GASNET_TMPDIR names another place "
      "for it)",
      parent_.c_str(), static_cast<long long>(kAnswerMs / 1000)));
}

void Janitor::stop(bool processes_are_gone) {
  if (pipe_ && processes_are_gone) {
    [[maybe_unused]] const auto wrote = ::write(pipe_.get(), "", 1);
  }
  close_pipe();
  if (ready_) return process_.let_go();  // nothing is there that it would have to sweep yet
  if (!outwait()) return leave();
  // A janitor that never answered, and has been let go, leaves no directory to sweep.
  if (job_dir_.empty()) return;
  if (has_swept_ || sweep_again(processes_are_gone)) tell_where_kept();
}

/// False: something stays that should not.
bool Janitor::sweep_again(bool processes_are_gone) {
  auto sockets = make_socket_pair("the job's second janitor");
  auto forked = sockets ? fork_child() : Result<pid_t>(sockets.error());
  if (!forked) {
    tell_what_stays(forked.sentence());
    return false;
  }
  if (*forked == 0) work_again(job_dir_, sockets->second.get(), processes_are_gone);
  process_ = ChildProcess(*forked);
  sockets->second.reset();
  if (!outwait()) {
    leave();
    return false;
  }
  if (!has_swept_) {
    const auto why = receive_record(sockets->first.get(), MSG_DONTWAIT).text;
    tell_what_stays(!why.empty() ? why : "a signal ended their removal");
  }
  return has_swept_;
}

void Janitor::tell_what_stays(const std::string& why) const {
  log_warning("files of the job stay: %s (the next job with %s as GASNET_TMPDIR tries again)",
              why.c_str(), parent_.c_str());
}

void Janitor::tell_where_kept() const {
  if (!keep_job_dir_) return;
  const auto kept = [this] {
    const EndsBySignal looking;  // perhaps where a file server does not answer
    return where_kept(job_dir_, lock_.get());
  }();
  if (kept.empty())
    return log_note("-k keeps nothing of host %s: the job's directory holds nothing, or is gone",
                    this_host().c_str());
  log_note("the job's directory is kept as %s on host %s", kept.c_str(), this_host().c_str());
}

/// False: it stands still, or does not die.
bool Janitor::outwait() {
  constexpr int64_t kLookMs = 1000, kAfterSignalMs = 1500, kKilledMs = 5000;
  patience_.emplace(process_.number(), now_ms());
  const auto has_ended = [this] { return process_.number() < 0; };
  while (loop_.end_asked() == 0) {
    process_.signal(SIGCONT);  // one that somebody stopped would be waited for in vain
    if (loop_.turn_until(has_ended, kLookMs)) return true;
    if (loop_.end_asked() == 0 && patience_->is_at_end(now_ms())) return false;
  }
  process_.signal(SIGCONT);
  if (loop_.turn_until_in_any_case(has_ended, kAfterSignalMs)) return true;
  is_killed_ = true;
  process_.signal(SIGKILL);
  return loop_.turn_until_in_any_case(has_ended, kKilledMs);
}

/// Its directory is not touched: a process that does may have to wait, too.
void Janitor::leave() {
  patience_->is_at_end(now_ms());  // a last look
  const char* const course = is_killed_ ? "was killed, does not die, and is left alone"
                                        : "is left alone, and goes on when it can";
  log_warning(
      "the job's janitor (process %d) does not come to an end with the job's directory %s: %s; it "
      "%s (once it has ended, the next job with %s as GASNET_TMPDIR sees to that directory)",
      process_.number(), job_dir_.c_str(), patience_->why().c_str(), course, parent_.c_str());
  process_.let_go();
}

bool Janitor::reap(pid_t process) {
  if (process != process_.number()) return false;
  const auto wait_status = process_.reap();
  if (!wait_status) return false;
  has_swept_ = !pipe_ && *wait_status == 0;
  if (!pipe_) return true;
  if (ready_) hear();  // its last word comes before its end
  has_ended_early(process, *wait_status);
  return true;
}

/// Before it was stopped.
void Janitor::has_ended_early(pid_t process, int wait_status) {
  close_pipe();
  const auto how = how_it_ended(wait_status);
  if (!ready_ && job_dir_.empty()) return;  // its word was a sentence
  if (!ready_) {
    return log_warning(
        "the job's janitor (process %d) %s: were this process killed, too, files of the job "
        "and orphans of its ranks would stay",
        process, how.c_str());
  }
  if (begun_ == kBegunMax || !WIFSIGNALED(wait_status))
    return tell(error("the job's janitor (process %d) %s before it made a directory", process,
                      how.c_str()));
  if (auto again = begin(); !again) tell(again.error());
}

}  // namespace pinwire::launch
