#include "core/launch/sweep/job_dir.h"

#include <array>

#include "core/launch/sweep/sweep.h"

namespace pinwire::launch {

Result<LockedDir> make_job_dir(const std::string& parent, bool keep) {
  auto made = make_locked_dir(parent, keep ? kKeepDirStart : kJobDirStart);
  if (made) return made;
  return error("no directory for the job: %s (GASNET_TMPDIR names another place for it)",
               made.sentence().c_str());
}

std::vector<std::string> kill_stale_jobs(const std::string& parent) {
  auto left = left_over_dirs(parent, std::array{kJobDirStart, kKeepDirStart});
  if (!left.empty()) kill_processes_of(left);
  return left;
}

void remove_stale_rank_dirs(const std::string& parent) {
  finish_unlocked_dirs(parent, std::array{kEalDirStart, kRanksDirStart});
}

}  // namespace pinwire::launch
