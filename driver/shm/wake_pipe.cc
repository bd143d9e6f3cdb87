#include "driver/shm/wake_pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/base/check.h"
#include "core/base/descriptors/no_descriptor.h"
#include "core/base/descriptors/offered_files.h"
#include "core/base/descriptors/peer_file.h"
#include "core/base/files/file_inode.h"
#include "core/base/no_cancel.h"

namespace pinwire::shm {

WakePipe::~WakePipe() { close_offered_file(fd_); }
WakePipe::WakePipe(WakePipe&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
WakePipe& WakePipe::operator=(WakePipe&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Result<WakePipe> WakePipe::create() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    return error("shm: cannot create a pipe: %s", no_descriptor(errno).c_str());
  auto both = open(getpid(), {ends[0], inode_of(ends[0])});
  close(ends[0]);
  close(ends[1]);
  if (both) offer_file(both->fd());
  return both;
}

Result<WakePipe> WakePipe::open(int pid, const WakeAddress& address) {
  auto both = open_peer_file(pid, address.fd, address.inode, 0);
  if (!both) {
    return error(
        "shm: the pipe that wakes a rank of this host: %s. Ranks of one host must run as one user "
        "in one PID namespace, with as many open files as there are ranks and lanes (ulimit -n); "
        "GASNET_DRIVER=dpdk does without.",
        both.sentence().c_str());
  }
  return WakePipe(*both);
}

WakeAddress WakePipe::address() const noexcept {
  check(fd_ >= 0, "the address of a pipe that is not there");
  return {fd_, inode_of(fd_)};
}

void WakePipe::wake() const noexcept {
  check(fd_ >= 0, "a wake by a pipe that is not there");
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
