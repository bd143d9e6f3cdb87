// The end of what a launcher or agent has below itself: orphans of its ranks become its children
// (it is a subreaper), and are killed with what it forked; children of others are not.
#pragma once

#include <map>
#include <string>

#include "core/launch/janitor.h"

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

/// Kills and reaps every child of this process but the inherited ones and janitors, and theirs,
/// until none is left. False: some would not die. An orphan of an inherited child looks like one of
/// a rank; where there are inherited ones, only a child that carries the mark of the job
/// (job_mark.h) is killed.
bool kill_children(Janitor* own, const InheritedChildren& inherited, const std::string& job_dir);

}  // namespace pinwire::launch
