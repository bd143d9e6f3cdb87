#include "driver/dpdk/new_descriptors.h"

#include <dirent.h>
#include <fcntl.h>

#include <cstdlib>

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

}  // namespace

NewDescriptors::NewDescriptors() : before_(open_descriptors()) {}

void NewDescriptors::close_on_exec() const {
  if (before_.empty()) return;
  for (const int fd : open_descriptors()) {
    if (before_.contains(fd)) continue;
    const int flags = fcntl(fd, F_GETFD);
    if (flags >= 0) fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
  }
}

}  // namespace pinwire
