// The job's own directory, for sockets and the like. It vanishes with the job in every case: the
// janitor makes and removes it; if that is killed, the launcher does; if both are, the next
// launcher on this host. A lock on the directory, held by launcher and janitor, tells the last
// case.
#pragma once

#include <string>

#include "core/base/result.h"
#include "core/launch/fd.h"

namespace pinwire::launch {

struct JobDir {
  std::string path;
  Fd lock;
};

/// Mode 0700, in `parent`.
Result<JobDir> make_job_dir(const std::string& parent);

/// Removes what jobs left in `parent` whose launcher and janitor were both killed.
void remove_stale_job_dirs(const std::string& parent);

}  // namespace pinwire::launch
