// What is left of a job is swept up even if the launcher is killed: a child of the launcher, in a
// session of its own, waits for the launcher's end of a socket to close, kills every process that
// carries the job's mark (job_mark.h), and removes the directory.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/launch/child_process.h"
#include "core/launch/supervisor_loop.h"

namespace pinwire::launch {

class Janitor {
 public:
  /// Before the first rank is started. The janitor itself makes the job's directory below `parent`:
  /// there is none that a killed launcher would leave to nobody.
  static Result<Janitor> hire(const std::string& parent, bool keep_job_dir);
  const std::string& job_dir() const noexcept { return job_dir_; }
  /// The job is over: returns when all is swept up. `processes_are_gone`: kill_children has seen to
  /// that, so the janitor has no need to look at strangers, which takes as long as they like. What
  /// a janitor leaves that was killed, or that a signal does not let end, is swept up here.
  void dismiss(SupervisorLoop& loop, bool processes_are_gone);
  pid_t number() const noexcept { return process_.number(); }
  /// A child of this process has ended: reaps it if it is the janitor. True if it was. One that
  /// ends before it is dismissed gets a sentence.
  bool reap(pid_t process);

 private:
  Janitor(pid_t process, Fd pipe, bool keep_job_dir)
      : process_(process), pipe_(std::move(pipe)), keep_job_dir_(keep_job_dir) {}
  Status hear_of_dir();
  ChildProcess process_;
  Fd pipe_;  // closed: it is dismissed
  std::string job_dir_;
  Fd lock_;  // of the directory: it stays locked as long as this or the janitor lives
  bool keep_job_dir_;
  bool has_swept_ = false;
};

/// Kills, until none is left, every process that carries the mark of the job with that directory.
/// Only those born at `since_ticks` or later (field 22 of /proc/PID/stat) are looked at: to read an
/// environment takes until its process has filled or mapped what it is about to, which may be
/// seconds.
void kill_processes_of(const std::string& job_dir, uint64_t since_ticks = 0);

/// Whether a process is a janitor of this or another launcher or agent.
bool is_janitor(pid_t process);

}  // namespace pinwire::launch
