#include "core/launch/janitor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/base/fd_record.h"
#include "core/base/log.h"
#include "core/launch/janitor_mark.h"
#include "core/launch/job_dir.h"
#include "core/launch/kept_files.h"
#include "core/launch/local_plan.h"
#include "core/launch/process.h"
#include "core/launch/process_facts.h"
#include "core/launch/sweep.h"

namespace pinwire::launch {
namespace {

constexpr int kBegunMax = 3;

/// Finishes what dead jobs left; false if its own job ended first, as that goes before. After the
/// answer: it delays no start.
bool finish_left(const std::string& parent, const std::vector<std::string>& left, int pipe_fd) {
  for (const auto& one : left) {
    pollfd word{pipe_fd, POLLIN, 0};
    if (::poll(&word, 1, 0) > 0) return false;
    finish_left_over(std::span(&one, 1));
  }
  remove_stale_rank_dirs(parent);
  return true;
}

[[noreturn]] void work(const std::string& parent, int pipe_fd, bool keep_job_dir) {
  ::setsid();
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) ::signal(number, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);
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
  const bool has_finished_left = finish_left(parent, left, pipe_fd);
  char processes_are_gone;
  ssize_t got;
  do {
    got = ::read(pipe_fd, &processes_are_gone, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) kill_processes_of(made->path, hired_ticks);
  const auto finished = finish_locked_dir(made->path);
  if (!has_finished_left) finish_left(parent, left, -1);
  // What stays is the launcher's to name: here nobody would hear of it.
  ::_exit(finished ? 0 : 1);
}

}  // namespace

Janitor::Janitor(SupervisorLoop& loop, const std::string& parent, bool keep_job_dir, Ready ready)
    : loop_(loop), parent_(parent), keep_job_dir_(keep_job_dir), ready_(std::move(ready)) {
  answer_.heard(now_ms());
  loop_.watch_children_of(this, [this](pid_t process) { return reap(process); });
}

Janitor::~Janitor() {
  close_pipe();
  process_.let_go();  // one that was not dismissed sweeps up by itself
  loop_.forget_children_of(this);
}

void Janitor::close_pipe() {
  if (!pipe_) return;
  loop_.loop().forget(pipe_.get());
  ::shutdown(pipe_.get(), SHUT_RDWR);  // a child that has not executed its program has a copy
  pipe_.reset();
}

Result<std::unique_ptr<Janitor>> Janitor::hire(SupervisorLoop& loop, const std::string& parent,
                                               bool keep_job_dir, Ready ready) {
  std::unique_ptr<Janitor> made(new Janitor(loop, parent, keep_job_dir, std::move(ready)));
  if (auto begun = made->begin(); !begun) return begun.error();
  return made;
}

Result<std::unique_ptr<Janitor>> Janitor::hire_and_wait(SupervisorLoop& loop,
                                                        const std::string& parent,
                                                        bool keep_job_dir) {
  std::optional<Status> known;
  auto hired = hire(loop, parent, keep_job_dir, [&known](Status made) { known = made; });
  if (!hired) return hired.error();
  const bool in_time = loop.turn_until([&known] { return known.has_value(); }, kAnswerMs);
  if (!in_time && loop.end_asked() != 0) return error("interrupted before the job had a directory");
  if (!in_time) (*hired)->give_up_answer();
  if (!*known) return known->error();
  return hired;
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
  loop_.loop().watch(pipe_.get(), POLLIN, [this](short) { hear(); });
  return success();
}

void Janitor::hear() {
  if (!ready_) return loop_.loop().set_events(pipe_.get(), 0);  // its end: reap() tells
  auto record = receive_record(pipe_.get(), MSG_DONTWAIT);
  if (record.text.empty()) {
    if (record.os_error == 0) loop_.loop().set_events(pipe_.get(), 0);
    return;  // after an error the loop asks again: the answer may still come
  }
  if (record.is_cut)
    return tell(
        error("no descriptor is left for the job's directory; raise the limit of open files "
              "(ulimit -n)"));
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
  tell(
      error("the job's janitor has made no directory in %s for %lld s: does its file system "
            "answer? (GASNET_TMPDIR names another place for it)",
            parent_.c_str(), static_cast<long long>(kAnswerMs / 1000)));
}

void Janitor::dismiss(bool processes_are_gone) {
  if (pipe_ && processes_are_gone) {
    [[maybe_unused]] const auto wrote = ::write(pipe_.get(), "", 1);
  }
  close_pipe();
  if (ready_) return process_.let_go();  // nothing is there that it would have to sweep yet
  if (Patience patience(process_.number(), now_ms()); !outwait(patience)) return leave(patience);
  // A janitor that never answered, and has been let go, leaves no directory to sweep.
  if (job_dir_.empty()) return;
  if (has_swept_ || sweep(processes_are_gone)) tell_where_kept();
}

/// False: something stays that should not.
bool Janitor::sweep(bool processes_are_gone) const {
  if (!processes_are_gone) kill_processes_of(job_dir_);
  const auto finished = finish_locked_dir(job_dir_);
  if (!finished) log_warning("files of the job stay: %s", finished.sentence().c_str());
  return finished.ok();
}

void Janitor::tell_where_kept() const {
  if (!keep_job_dir_) return;
  const auto kept = where_kept(job_dir_, lock_.get());
  if (kept.empty()) return log_note("-k keeps nothing: the job's directory holds nothing");
  log_note("the job's directory is kept as %s on host %s", kept.c_str(), this_host().c_str());
}

/// False: it stands still, or does not die.
bool Janitor::outwait(Patience& patience) {
  constexpr int64_t kLookMs = 1000, kKilledMs = 5000;
  const auto has_ended = [this] { return process_.number() < 0; };
  while (loop_.end_asked() == 0) {
    process_.signal(SIGCONT);  // one that somebody stopped would be waited for in vain
    if (loop_.turn_until(has_ended, kLookMs)) return true;
    if (loop_.end_asked() == 0 && patience.is_at_end(now_ms())) return false;
  }
  process_.signal(SIGKILL);
  return loop_.turn_until_in_any_case(has_ended, kKilledMs);
}

/// Its directory is not touched: whoever does may have to wait, too.
void Janitor::leave(const Patience& patience) {
  log_warning(
      "the job's janitor (process %d) does not come to an end with the job's directory %s: %s; it "
      "is left alone, and goes on when it can (if it never does, remove that directory by hand)",
      process_.number(), job_dir_.c_str(), patience.why().c_str());
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

/// Before it was dismissed.
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
