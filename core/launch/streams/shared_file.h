// Standard input or output of the launcher, which other processes may have, too: those of the shell
// line, or of another launcher. No call here waits for them, or kHeldMs at the most (Way::kPolled).
// That poll(2) says "ready" is not enough, since another process may take the bytes or the space
// before this one asks for them, and a terminal promises room for one byte; a launcher that waits
// in read(2) or write(2) hears no signal. O_NONBLOCK is no way either: it is a flag of what all
// these processes share, and they expect it to be off.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "core/launch/loop/fd.h"

namespace pinwire::launch {

class SharedFile {
 public:
  /// kSocket: MSG_DONTWAIT. kNoWait: RWF_NOWAIT, which pipes have since Linux 6.4. kOwn: the pipe
  /// or terminal opened anew through /proc, so that O_NONBLOCK is this process's own. kPolled:
  /// where neither is possible (an older kernel without /proc, a terminal of another user, a device
  /// that is another one when it is opened anew), a poll(2) just before, and a timer that ends what
  /// waits nevertheless (core/launch/streams/call_timer.h). kPlain: files never wait for another
  /// process.
  enum class Way { kSocket, kNoWait, kOwn, kPolled, kPlain };
  static constexpr int kHeldMs = 10;
  static constexpr int64_t kRestMsMax = 320;

  SharedFile(int fd) noexcept;
  SharedFile(int fd, Way way) noexcept : fd_(fd), way_(way) {}
  int fd() const noexcept { return fd_; }
  /// They are read(2) and write(2), with EAGAIN where those would wait.
  ssize_t read(void* bytes, size_t count) noexcept;
  ssize_t write(const void* bytes, size_t count) noexcept;
  /// After a write that had to wait although poll(2) said "ready", this file takes nothing until
  /// then (now_ms()), each time a longer while: a terminal that is stopped costs no CPU. Until then
  /// poll(2) may say "ready".
  int64_t rests_until_ms() const noexcept { return rests_until_ms_; }

 private:
  static constexpr int64_t kRestMsMin = 10;
  void open_own() noexcept;
  bool is_same_when_opened_anew() const noexcept;
  ssize_t read_polled(void* bytes, size_t count) const noexcept;
  ssize_t write_polled(const void* bytes, size_t count) noexcept;

  const int fd_;
  Way way_ = Way::kPlain;
  Fd own_;
  int64_t rest_ms_ = kRestMsMin;
  int64_t rests_until_ms_ = 0;
};

}  // namespace pinwire::launch
