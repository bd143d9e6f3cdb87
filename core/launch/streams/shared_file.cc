#include "core/launch/streams/shared_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "core/launch/loop/loop.h"
#include "core/launch/streams/call_timer.h"

namespace pinwire::launch {
namespace {

constexpr off_t kWhereItIs = -1;

/// Does this file, kernel or sandbox not know RWF_NOWAIT?
bool is_refused(ssize_t result) noexcept {
  return result < 0 &&
         (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL || errno == EPERM);
}

ssize_t would_wait() noexcept {
  errno = EAGAIN;
  return -1;
}

bool is_ready(int fd, short events) noexcept {
  pollfd one{fd, events, 0};
  return ::poll(&one, 1, 0) > 0;
}

bool is_pipe(int fd) noexcept {
  struct stat facts {};
  return ::fstat(fd, &facts) == 0 && S_ISFIFO(facts.st_mode);
}

}  // namespace

SharedFile::SharedFile(int fd) noexcept : fd_(fd) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return;
  if (S_ISSOCK(facts.st_mode)) way_ = Way::kSocket;
  if (S_ISFIFO(facts.st_mode) || S_ISCHR(facts.st_mode)) way_ = Way::kNoWait;
}

void SharedFile::open_own() noexcept {
  way_ = Way::kPolled;
  // To open a device may do something to it; to open a pipe or a terminal does not.
  const int mode = ::fcntl(fd_, F_GETFL);
  if (mode < 0 || (!is_pipe(fd_) && ::isatty(fd_) == 0)) return;
  char path[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd_);
  own_.reset(::open(path, (mode & O_ACCMODE) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (own_ && !is_same_when_opened_anew()) own_.reset();
  if (own_) way_ = Way::kOwn;
}

/// /dev/tty, /dev/tty0 and /dev/console stand for a terminal: now, perhaps, for another one than
/// when they were opened. And to open the device of a pseudo-terminal's master makes another pair.
bool SharedFile::is_same_when_opened_anew() const noexcept {
  unsigned terminal = 0, own_terminal = 0;
  return is_pipe(fd_) ||
         (::ioctl(fd_, TIOCGDEV, &terminal) == 0 &&
          ::ioctl(own_.get(), TIOCGDEV, &own_terminal) == 0 && terminal == own_terminal);
}

ssize_t SharedFile::read(void* bytes, size_t count) noexcept {
  if (way_ == Way::kSocket) return ::recv(fd_, bytes, count, MSG_DONTWAIT);
  if (way_ == Way::kNoWait) {
    const iovec part{bytes, count};
    const ssize_t got = ::preadv2(fd_, &part, 1, kWhereItIs, RWF_NOWAIT);
    if (!is_refused(got)) return got;
    open_own();
  }
  if (way_ == Way::kPolled) return read_polled(bytes, count);
  return ::read(own_ ? own_.get() : fd_, bytes, count);
}

ssize_t SharedFile::write(const void* bytes, size_t count) noexcept {
  if (way_ == Way::kSocket) return ::send(fd_, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (way_ == Way::kNoWait) {
    const iovec part{const_cast<void*>(bytes), count};
    const ssize_t wrote = ::pwritev2(fd_, &part, 1, kWhereItIs, RWF_NOWAIT);
    if (!is_refused(wrote)) return wrote;
    open_own();
  }
  if (way_ == Way::kPolled) return write_polled(bytes, count);
  return ::write(own_ ? own_.get() : fd_, bytes, count);
}

ssize_t SharedFile::read_polled(void* bytes, size_t count) const noexcept {
  if (!is_ready(fd_, POLLIN)) return would_wait();
  const CallTimer limit(kHeldMs);
  const ssize_t got = ::read(fd_, bytes, count);
  return got < 0 && errno == EINTR ? would_wait() : got;
}

ssize_t SharedFile::write_polled(const void* bytes, size_t count) noexcept {
  if (now_ms() < rests_until_ms_ || !is_ready(fd_, POLLOUT)) return would_wait();
  ssize_t wrote;
  {
    const CallTimer limit(kHeldMs);
    wrote = ::write(fd_, bytes, count);
  }
  if (wrote < 0 && errno != EINTR) return wrote;
  const bool is_whole = wrote == static_cast<ssize_t>(count);
  rest_ms_ = wrote > 0 ? kRestMsMin : std::min(2 * rest_ms_, kRestMsMax);
  if (!is_whole) rests_until_ms_ = now_ms() + rest_ms_;
  return wrote < 0 ? would_wait() : wrote;
}

}  // namespace pinwire::launch
