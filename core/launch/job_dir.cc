#include "core/launch/job_dir.h"

#include "core/base/locked_dir.h"
#include "core/launch/janitor.h"

namespace pinwire::launch {

Result<JobDir> make_job_dir(const std::string& parent) {
  auto made = make_locked_dir(parent, kJobDirStart);
  if (!made) {
    return error("no directory for the job: %s (GASNET_TMPDIR names another place for it)",
                 made.sentence().c_str());
  }
  return JobDir{std::move(made->path), Fd(made->lock_fd)};
}

void remove_stale_job_dirs(const std::string& parent) {
  remove_unlocked_dirs(parent, [](const std::string& path) { kill_processes_of(path); });
}

}  // namespace pinwire::launch
