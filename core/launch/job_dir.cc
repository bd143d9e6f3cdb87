#include "core/launch/job_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "core/launch/janitor.h"

namespace pinwire::launch {
namespace {

// What the last case removes must be unmistakable: others, too, name directories after Pinwire.
constexpr std::string_view kJobStart = "pinwire-job-";
constexpr std::string_view kEalStart =
    "pinwire-eal-";  // of driver/dpdk, where there is no launcher
constexpr std::string_view kRandomLetters = "XXXXXX";

bool is_our_name(std::string_view name) {
  for (const auto start : {kJobStart, kEalStart})
    if (name.starts_with(start) && name.size() == start.size() + kRandomLetters.size()) return true;
  return false;
}

/// Whether `path` is a directory of mine that nobody has locked.
bool is_stale(const std::string& path, time_t settled_s) {
  Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts {};
  return folder && ::fstat(folder.get(), &facts) == 0 && facts.st_uid == ::geteuid() &&
         facts.st_ctime + settled_s < ::time(nullptr) &&
         ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0;
}

}  // namespace

Result<JobDir> make_job_dir(const std::string& parent) {
  auto path = (parent + "/").append(kJobStart).append(kRandomLetters);
  if (::mkdtemp(path.data()) == nullptr) {
    return error("cannot make the job's directory in %s: %s (GASNET_TMPDIR names another place)",
                 parent.c_str(), std::strerror(errno));
  }
  Fd lock(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    const int os_error = errno;
    remove_tree(path);
    return error("cannot lock the job's directory %s: %s", path.c_str(), std::strerror(os_error));
  }
  return JobDir{std::move(path), std::move(lock)};
}

void remove_stale_job_dirs(const std::string& parent, time_t settled_s) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(parent.c_str()), ::closedir);
  if (!folder) return;
  while (const dirent* entry = ::readdir(folder.get())) {
    if (!is_our_name(entry->d_name)) continue;
    const std::string path = parent + "/" + entry->d_name;
    if (!is_stale(path, settled_s)) continue;
    kill_processes_of(path);
    remove_tree(path);
  }
}

}  // namespace pinwire::launch
