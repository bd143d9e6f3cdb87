// Files of memory, whose size a limit of the process bounds (ulimit -f). Beyond it the kernel kills
// the process by SIGXFSZ, with no word of which limit that is.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace pinwire {

/// Advice for a sentence about EFBIG.
inline constexpr char kRaiseFileSize[] = "raise the limit of a file's size (ulimit -f)";

inline bool may_have_file_of(uint64_t bytes) noexcept {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
         bytes <= limit.rlim_cur;
}

/// ftruncate(2), with EFBIG above the limit.
inline int resize_file(int fd, uint64_t bytes) noexcept {
  if (may_have_file_of(bytes)) return ftruncate(fd, static_cast<off_t>(bytes));
  errno = EFBIG;
  return -1;
}

}  // namespace pinwire
