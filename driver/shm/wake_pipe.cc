#include "driver/shm/wake_pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "core/base/check.h"
#include "core/base/no_cancel.h"

namespace pinwire::shm {

WakePipe::~WakePipe() {
  if (fd_ >= 0) close(fd_);
}
WakePipe::WakePipe(WakePipe&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
WakePipe& WakePipe::operator=(WakePipe&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Result<WakePipe> WakePipe::create() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    return error("shm: cannot create a pipe: %s; raise the limit of open files (ulimit -n)",
                 std::strerror(errno));
  }
  auto both = open(getpid(), ends[0]);
  close(ends[0]);
  close(ends[1]);
  return both;
}

Result<WakePipe> WakePipe::open(int pid, int fd) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
  const int both = ::open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (both < 0) {
    return error(
        "shm: cannot open %s, which wakes a rank of this host: %s. Ranks of one host must run as "
        "one user in one PID namespace, with as many open files as there are ranks and lanes "
        "(ulimit -n); GASNET_DRIVER=dpdk does without.",
        path, std::strerror(errno));
  }
  return WakePipe(both);
}

void WakePipe::wake() const noexcept {
  const NoCancel whole;
  const char any = 0;
  // A full pipe is readable in any case.
  while (write(fd_, &any, 1) < 0 && errno == EINTR) {
  }
}

void WakePipe::drain() const noexcept {
  const NoCancel whole;
  char wakes[64];
  for (;;) {
    const ssize_t count = read(fd_, wakes, sizeof wakes);
    if (count < 0 && errno == EINTR) continue;
    if (count < static_cast<ssize_t>(sizeof wakes)) return;
  }
}

}  // namespace pinwire::shm
