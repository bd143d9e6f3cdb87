// Standard input or output of the launcher, which other processes may have, too: those of the shell
// line, or of another launcher. No call here waits. That poll(2) says "ready" is not enough, since
// another process may take the bytes or the space before this one asks for them, and a launcher
// that waits in read(2) or write(2) hears no signal. O_NONBLOCK is no way either: it is a flag of
// what all these processes share, and they expect it to be off.
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "core/launch/fd.h"

namespace pinwire::launch {

class SharedFile {
 public:
  explicit SharedFile(int fd);
  /// They are read(2) and write(2), with EAGAIN where those would wait.
  ssize_t read(void* bytes, size_t count);
  ssize_t write(const void* bytes, size_t count);

 private:
  /// kSocket: MSG_DONTWAIT. kNoWait: RWF_NOWAIT, which pipes have since Linux 6.4. kOwn: the pipe
  /// or terminal opened anew through /proc, so that O_NONBLOCK is this process's own. kPolled:
  /// where neither is possible (an older kernel without /proc, or a terminal of another user), a
  /// poll(2) just before, which leaves a moment for others. kPlain: files never wait for another
  /// process.
  enum class Way { kSocket, kNoWait, kOwn, kPolled, kPlain };
  void open_own();
  bool would_wait(short events) const;

  const int fd_;
  Way way_ = Way::kPlain;
  Fd own_;
};

}  // namespace pinwire::launch
