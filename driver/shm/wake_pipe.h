// What wakes a process that sleeps over its inbox: a pipe for each lane, which peers open through
// /proc/<pid>/fd as they do the inbox itself (an eventfd cannot be opened so).
//
// Everyone holds one end that reads and writes: a pipe whose peers are gone then neither hangs up
// nor kills who writes to it.
#pragma once

#include "core/base/result.h"

namespace pinwire::shm {

class WakePipe {
 public:
  WakePipe() = default;
  ~WakePipe();
  WakePipe(WakePipe&& other) noexcept;
  WakePipe& operator=(WakePipe&& other) noexcept;
  WakePipe(const WakePipe&) = delete;

  static Result<WakePipe> create();
  /// That of another process, by its fd() there.
  static Result<WakePipe> open(int pid, int fd);

  /// Readable from the next wake() on. -1: none.
  int fd() const noexcept { return fd_; }
  void wake() const noexcept;
  /// Takes back all wakes so far.
  void drain() const noexcept;

 private:
  explicit WakePipe(int fd) noexcept : fd_(fd) {}

  int fd_ = -1;
};

}  // namespace pinwire::shm
