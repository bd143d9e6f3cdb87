// The end of processes that a job leaves. Orphans of ranks become children of their launcher or
// agent (it is a subreaper), and are killed with what it forked; children of others are not. Where
// the launcher is gone, the mark of the job tells (core/launch/process/job_mark.h).
#pragma once

#include <map>
#include <span>
#include <string>

#include "core/launch/process/supervisor_loop.h"

namespace pinwire::launch {

/// The children that this process had before it forked any: `monitor & exec gasnetrun_pinwire` in a
/// shell leaves it some, as does `> >(filter)`. They are no part of the job.
class InheritedChildren {
 public:
  static InheritedChildren now();
  bool any() const noexcept { return !births_.empty(); }
  bool contains(pid_t process) const;

 private:
  std::map<pid_t, uint64_t> births_;
};

/// Kills and reaps every child of this process, and theirs, but the inherited ones and
/// `own_janitor`, until none is left. False: some would not die. Other janitors, whose launchers or
/// agents are gone, are at work, and waited for. An orphan of an inherited child looks like one of
/// a rank; where there are inherited ones, only a child that carries the mark of the job is killed.
bool kill_children(SupervisorLoop& loop, pid_t own_janitor, const InheritedChildren& inherited,
                   const std::string& job_dir);

/// Kills, until none is left, every process that carries the mark of the job with that directory,
/// or of one of many: all are looked for at once. False: some would not die. Only those born at
/// `since_ticks` or later (field 22 of /proc/PID/stat) are looked at: to read an environment takes
/// until its process has filled or mapped what it is about to, which may be seconds.
bool kill_processes_of(const std::string& job_dir, uint64_t since_ticks = 0);
bool kill_processes_of(std::span<const std::string> job_dirs, uint64_t since_ticks = 0);

}  // namespace pinwire::launch
