#include "driver/dpdk/eal/new_descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace pinwire {
namespace {

/// Empty where /proc is not there: then nothing is known to be new.
std::set<int> open_descriptors() {
  std::set<int> open;
  DIR* const listing = opendir("/proc/self/fd");
  if (listing == nullptr) return open;
  while (const dirent* entry = readdir(listing)) {
    if (entry->d_name[0] != '.') open.insert(std::atoi(entry->d_name));
  }
  open.erase(dirfd(listing));
  closedir(listing);
  return open;
}

/// A file with a name that another thread of the client has opened meanwhile. DPDK's have none, or
/// lie among huge pages or in its own folder.
bool is_clients_file(int fd) {
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  struct stat about {};
  if (stat(link.c_str(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_nlink == 0)
    return false;
  struct statfs system {};
  if (statfs(link.c_str(), &system) != 0 || system.f_type == HUGETLBFS_MAGIC) return false;
  std::error_code problem;
  const auto path = std::filesystem::read_symlink(link, problem);
  return !problem && path.string().find("/dpdk/") == std::string::npos;
}

}  // namespace

NewDescriptors::NewDescriptors() : before_(open_descriptors()) {}

Status NewDescriptors::leave_room_for(uint32_t count) const {
  rlimit limit{};
  if (before_.empty() || getrlimit(RLIMIT_NOFILE, &limit) != 0) return success();
  if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= before_.size() + count) return success();
  return error(
      "DPDK opens up to %u files here, and this process, which has %zu open, may have %llu: raise "
      "the limit of open files (ulimit -n)",
      count, before_.size(), static_cast<unsigned long long>(limit.rlim_cur));
}

void NewDescriptors::close_on_exec() const {
  if (before_.empty()) return;
  for (const int fd : open_descriptors()) {
    if (before_.contains(fd) || is_clients_file(fd)) continue;
    const int flags = fcntl(fd, F_GETFD);
    if (flags >= 0) fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
  }
}

}  // namespace pinwire
