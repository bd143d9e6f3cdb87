// The job's own directory, for sockets and the like. It vanishes with the job in every case: the
// janitor makes and removes it; if that is killed, the launcher starts another one; if both are,
// the next launcher on this host removes it. A lock on the directory, held by launcher and janitor,
// tells the last case.
#pragma once

#include <string>
#include <vector>

#include "core/base/files/locked_dir.h"

namespace pinwire::launch {

/// Mode 0700, in `parent`. `keep`: its end is another name (kKeptDirStart).
Result<LockedDir> make_job_dir(const std::string& parent, bool keep);

/// Kills the remaining processes of jobs in `parent` whose launcher and janitor were both killed,
/// and returns their directories for finish_left_over(). It is called before the next job has its
/// directory: the resources that processes of dead jobs hold must be free before ranks start. The
/// contents of their directories need not be: the time to remove them grows with their size.
std::vector<std::string> kill_stale_jobs(const std::string& parent);

/// Removes the directories that killed ranks left in `parent`, EAL's and those of ranks without a
/// launcher. No process carries their names as a mark, so none is looked for.
void remove_stale_rank_dirs(const std::string& parent);

}  // namespace pinwire::launch
