// A queue of events behind a file that is readable while it holds any, as the kernel's event files
// are: it can be polled, made non-blocking, and read with blocking.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <deque>

#include "core/base/check.h"

namespace pinwire::fake_verbs {

template <typename Event>
class EventFile {
 public:
  EventFile() : fd_(eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE)) { check(fd_ >= 0, "eventfd", errno); }
  ~EventFile() { ::close(fd_); }
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  int fd() const noexcept { return fd_; }

  void push(const Event& event) {
    events_.push_back(event);
    const uint64_t one = 1;
    check(::write(fd_, &one, sizeof one) == sizeof one, "eventfd write", errno);
  }

  /// Under the lock: false if there is none.
  bool pop(Event& event) {
    if (events_.empty()) return false;
    event = events_.front();
    events_.pop_front();
    take_one();
    return true;
  }

  /// Events of an object that is being destroyed.
  template <typename Predicate>
  void drop_if(Predicate is_dropped) {
    for (auto at = events_.begin(); at != events_.end();) {
      if (!is_dropped(*at)) {
        ++at;
        continue;
      }
      at = events_.erase(at);
      take_one();
    }
  }

 private:
  void take_one() {
    uint64_t one = 0;
    check(::read(fd_, &one, sizeof one) == sizeof one, "eventfd read", errno);
  }

  int fd_;
  std::deque<Event> events_;
};

/// The effect of a read of the file while it is empty: false with EAGAIN if it is non-blocking,
/// otherwise true once something may be there. Without any lock.
inline bool wait_readable(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0) return false;
  if ((flags & O_NONBLOCK) != 0) {
    errno = EAGAIN;
    return false;
  }
  pollfd one{fd, POLLIN, 0};
  return ::poll(&one, 1, -1) == 1;
}

}  // namespace pinwire::fake_verbs
