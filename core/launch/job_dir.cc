#include "core/launch/job_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string_view>

#include "core/base/locked_dir.h"
#include "core/launch/janitor.h"

namespace pinwire::launch {
namespace {

/// A name must be unmistakable before its directory is removed as stale: others, too, name
/// directories after Pinwire.
/// EAL's directories are driver/dpdk's, where there is no launcher.
constexpr size_t kRandomLetters = 6;

bool is_our_name(std::string_view name) {
  for (const auto start : {kJobDirStart, kEalDirStart})
    if (name.starts_with(start) && name.size() == start.size() + kRandomLetters) return true;
  return false;
}

/// Whether `path` is a directory of mine that nobody has locked. No clock is asked: one has its
/// lock before it has its name.
bool is_stale(const std::string& path) {
  Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts {};
  return folder && ::fstat(folder.get(), &facts) == 0 && facts.st_uid == ::geteuid() &&
         ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0;
}

}  // namespace

Result<JobDir> make_job_dir(const std::string& parent) {
  auto made = make_locked_dir(parent, kJobDirStart);
  if (!made) {
    return error("no directory for the job: %s (GASNET_TMPDIR names another place for it)",
                 made.sentence().c_str());
  }
  return JobDir{std::move(made->path), Fd(made->lock_fd)};
}

void remove_stale_job_dirs(const std::string& parent) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(parent.c_str()), ::closedir);
  if (!folder) return;
  while (const dirent* entry = ::readdir(folder.get())) {
    if (!is_our_name(entry->d_name)) continue;
    const std::string path = parent + "/" + entry->d_name;
    if (!is_stale(path)) continue;
    kill_processes_of(path);
    remove_tree(path);
  }
}

}  // namespace pinwire::launch
