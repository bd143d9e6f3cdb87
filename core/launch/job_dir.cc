#include "core/launch/job_dir.h"

#include <unistd.h>

#include <array>

#include "core/base/remove_tree.h"
#include "core/launch/sweep.h"

namespace pinwire::launch {
namespace {

Error no_directory(const std::string& why) {
  return error("no directory for the job: %s (GASNET_TMPDIR names another place for it)",
               why.c_str());
}

}  // namespace

Result<LockedDir> make_job_dir(const std::string& parent, bool keep) {
  auto made = make_locked_dir(parent, kJobDirStart);
  if (!made) return no_directory(made.sentence());
  if (!keep) return made;
  if (auto marked = keep_locked_dir(*made); !marked) {
    remove_tree(made->path);
    ::close(made->lock_fd);
    return no_directory(marked.sentence());
  }
  return made;
}

void remove_stale_job_dirs(const std::string& parent) {
  finish_unlocked_dirs(parent, std::array{kJobDirStart},
                       [](const std::string& path) { kill_processes_of(path); });
}

void remove_stale_rank_dirs(const std::string& parent) {
  finish_unlocked_dirs(parent, std::array{kEalDirStart, kRanksDirStart});
}

}  // namespace pinwire::launch
