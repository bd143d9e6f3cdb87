// A pipe for each lane wakes a process that sleeps over its inbox. Peers open it as they do the
// inbox itself (core/base/descriptors/peer_file.h; an eventfd cannot be opened through /proc).
//
// Everyone holds one end that reads and writes: a pipe whose peers are gone then neither hangs up
// nor kills who writes to it.
#pragma once

#include <cstdint>

#include "core/base/result.h"

namespace pinwire::shm {

/// The number and the file of one in its owner, by which a peer opens it.
struct WakeAddress {
  int32_t fd;
  uint64_t inode;
};

class WakePipe {
 public:
  WakePipe() = default;
  ~WakePipe();
  WakePipe(WakePipe&& other) noexcept;
  WakePipe& operator=(WakePipe&& other) noexcept;
  WakePipe(const WakePipe&) = delete;

  static Result<WakePipe> create();
  /// That of another process.
  static Result<WakePipe> open(int pid, const WakeAddress& address);
  WakeAddress address() const noexcept;

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
