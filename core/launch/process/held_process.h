// A process that signals reach, or nobody. The kernel gives the number of a process that was reaped
// to the next one, so a signal by number may hit a stranger.
#pragma once

#include <sys/types.h>

#include "core/launch/loop/fd.h"

namespace pinwire::launch {

class HeldProcess {
 public:
  HeldProcess() = default;
  /// Holds the process that has this number now; there may be none.
  explicit HeldProcess(pid_t number);
  HeldProcess(HeldProcess&& other) noexcept
      : number_(std::exchange(other.number_, -1)), pidfd_(std::move(other.pidfd_)) {}
  HeldProcess& operator=(HeldProcess&& other) noexcept {
    number_ = std::exchange(other.number_, -1);
    pidfd_ = std::move(other.pidfd_);
    return *this;
  }
  pid_t number() const noexcept { return number_; }  ///< -1: none
  /// Readable from its end on, before it is reaped. -1: there is none.
  int end_fd() const noexcept { return pidfd_.get(); }
  /// False if it could not be sent, as to one that is gone.
  bool signal(int signal_number) const noexcept;
  void forget() noexcept;

 private:
  pid_t number_ = -1;
  Fd pidfd_;  // none where the kernel or a seccomp profile gives none: then the number has to do
};

}  // namespace pinwire::launch
