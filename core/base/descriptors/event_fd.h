// Shared by threads that sleep in the kernel: an eventfd that others make readable, and a limit.
#pragma once

#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "core/base/no_cancel.h"

namespace pinwire {

/// -1, with errno: there is none left.
inline int open_event_fd() noexcept { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

/// It is readable from now on. One that is full is so in any case.
inline void ring_event_fd(int fd) noexcept {
  const NoCancel whole;
  const uint64_t one = 1;
  while (write(fd, &one, sizeof one) < 0 && errno == EINTR) {
  }
}
/// Takes back all rings so far.
inline void drain_event_fd(int fd) noexcept {
  const NoCancel whole;
  uint64_t rings;
  while (read(fd, &rings, sizeof rings) < 0 && errno == EINTR) {
  }
}

constexpr timespec timespec_of_us(uint32_t us) noexcept {
  return {.tv_sec = us / 1'000'000, .tv_nsec = us % 1'000'000 * 1000l};
}

}  // namespace pinwire
