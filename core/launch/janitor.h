// What is left of a job is swept up even if the launcher is killed: a child of the launcher, in a
// session of its own, waits for the launcher's end of a pipe to close, kills every process that
// carries the job's directory in its environment, and removes the directory.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/launch/process.h"

namespace pinwire::launch {

class Janitor {
 public:
  /// Before the first rank is started. `lock` stays locked as long as the janitor lives.
  static Result<Janitor> hire(const std::string& job_dir, int lock_fd, bool keep_job_dir);
  /// The job is over: returns when all is swept up. `processes_are_gone`: kill_children has seen to
  /// that, so the janitor has no need to look at strangers, which takes as long as they like.
  void dismiss(bool processes_are_gone);
  pid_t process() const noexcept { return process_; }

 private:
  Janitor(pid_t process, Fd pipe) : process_(process), pipe_(std::move(pipe)) {}
  pid_t process_;
  Fd pipe_;
};

/// Kills, until none is left, every process whose environment has GASNET_JOB_DIR=`job_dir`. Only
/// those born at `since_ticks` or later (field 22 of /proc/PID/stat) are looked at: to read an
/// environment takes until its process has filled or mapped what it is about to, which may be
/// seconds.
void kill_processes_of(const std::string& job_dir, uint64_t since_ticks = 0);

/// Kills and reaps every child of this process but `spared`, and theirs, until none is left. (The
/// launcher is a subreaper: orphans of its ranks become its children.) False: some would not die.
bool kill_children(pid_t spared);

}  // namespace pinwire::launch
