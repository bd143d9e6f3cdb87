#include "core/base/own_dir.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pinwire {

int find_dir(int parent_fd, const char* name) noexcept {
  return ::openat(parent_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int open_own_dir(int found_fd) noexcept {
  struct stat facts {};
  if (::fstat(found_fd, &facts) != 0) return -1;
  if (facts.st_uid == ::geteuid() && (facts.st_mode & S_IRWXU) != S_IRWXU) {
    // fchmod(2) refuses such a descriptor; by its path another directory could be meant by now.
    char path[32];
    ::snprintf(path, sizeof path, "/proc/self/fd/%d", found_fd);
    ::chmod(path, (facts.st_mode & 07777U) | S_IRWXU);
  }
  return ::openat(found_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

}  // namespace pinwire
