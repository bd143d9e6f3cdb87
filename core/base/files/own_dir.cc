#include "core/base/files/own_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pinwire {
namespace {

/// The mode that the directory should have; 0 if that is its own, or it is another user's.
mode_t mode_for_owner(int fd) noexcept {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0 || facts.st_uid != ::geteuid()) return 0;
  const mode_t mode = facts.st_mode & 07777U;
  return (mode & S_IRWXU) == S_IRWXU ? 0 : mode | S_IRWXU;
}

int open_for_reading(int found_fd) noexcept {
  return ::openat(found_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

}  // namespace

int find_dir(int parent_fd, const char* name) noexcept {
  return ::openat(parent_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int open_own_dir(int found_fd) noexcept {
  const int fd = open_for_reading(found_fd);
  if (fd >= 0 || errno != EACCES) return fd;
  if (const mode_t mode = mode_for_owner(found_fd); mode != 0) {
    // fchmod(2) refuses such a descriptor; by its path another directory could be meant by now.
    char path[32];
    ::snprintf(path, sizeof path, "/proc/self/fd/%d", found_fd);
    ::chmod(path, mode);
  }
  return open_for_reading(found_fd);
}

void take_own_rights(int fd) noexcept {
  if (const mode_t mode = mode_for_owner(fd); mode != 0) ::fchmod(fd, mode);
}

}  // namespace pinwire
