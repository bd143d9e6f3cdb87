#include "core/launch/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <string>

namespace pinwire::launch {
namespace {

constexpr off_t kWhereItIs = -1;

/// Does this file, kernel or sandbox not know RWF_NOWAIT?
bool is_refused(ssize_t result) noexcept {
  return result < 0 &&
         (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL || errno == EPERM);
}

}  // namespace

SharedFile::SharedFile(int fd) : fd_(fd) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return;
  if (S_ISSOCK(facts.st_mode)) way_ = Way::kSocket;
  if (S_ISFIFO(facts.st_mode) || S_ISCHR(facts.st_mode)) way_ = Way::kNoWait;
}

void SharedFile::open_own() {
  way_ = Way::kPolled;
  struct stat facts {};
  // To open a device may do something to it; to open a pipe or a terminal does not.
  const bool is_pipe = ::fstat(fd_, &facts) == 0 && S_ISFIFO(facts.st_mode);
  const int mode = ::fcntl(fd_, F_GETFL);
  if (mode < 0 || (!is_pipe && ::isatty(fd_) == 0)) return;
  const auto path = "/proc/self/fd/" + std::to_string(fd_);
  own_.reset(::open(path.c_str(), (mode & O_ACCMODE) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (own_) way_ = Way::kOwn;
}

bool SharedFile::would_wait(short events) const {
  if (way_ != Way::kPolled) return false;
  pollfd one{fd_, events, 0};
  if (::poll(&one, 1, 0) > 0) return false;
  errno = EAGAIN;
  return true;
}

ssize_t SharedFile::read(void* bytes, size_t count) {
  if (way_ == Way::kSocket) return ::recv(fd_, bytes, count, MSG_DONTWAIT);
  if (way_ == Way::kNoWait) {
    const iovec part{bytes, count};
    const ssize_t got = ::preadv2(fd_, &part, 1, kWhereItIs, RWF_NOWAIT);
    if (!is_refused(got)) return got;
    open_own();
  }
  if (would_wait(POLLIN)) return -1;
  return ::read(own_ ? own_.get() : fd_, bytes, count);
}

ssize_t SharedFile::write(const void* bytes, size_t count) {
  if (way_ == Way::kSocket) return ::send(fd_, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (way_ == Way::kNoWait) {
    const iovec part{const_cast<void*>(bytes), count};
    const ssize_t wrote = ::pwritev2(fd_, &part, 1, kWhereItIs, RWF_NOWAIT);
    if (!is_refused(wrote)) return wrote;
    open_own();
  }
  if (would_wait(POLLOUT)) return -1;
  return ::write(own_ ? own_.get() : fd_, bytes, count);
}

}  // namespace pinwire::launch
