// The number by which the owner of a file without a name tells others which one it means: a
// descriptor's number, and a process's, may name something else by the time they look.
#pragma once

#include <sys/stat.h>

#include <cstdint>

namespace pinwire {

/// The inode of that descriptor's file; 0 for no file (fd < 0).
inline uint64_t inode_of(int fd) noexcept {
  struct stat facts {};
  return fd >= 0 && fstat(fd, &facts) == 0 ? facts.st_ino : 0;
}

}  // namespace pinwire
