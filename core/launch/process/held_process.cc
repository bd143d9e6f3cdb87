#include "core/launch/process/held_process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>

namespace pinwire::launch {

HeldProcess::HeldProcess(pid_t number) : number_(number) {
  pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, number, 0)));
  if (!pidfd_ && errno == ESRCH) number_ = -1;
}

bool HeldProcess::signal(int signal_number) const noexcept {
  if (number_ <= 0) return false;
  if (!pidfd_) return ::kill(number_, signal_number) == 0;
  if (::syscall(SYS_pidfd_send_signal, pidfd_.get(), signal_number, nullptr, 0) == 0) return true;
  // A seccomp profile that knows pidfd_open(2) may refuse this one; a pidfd is readable from its
  // process's end on.
  pollfd its_end{pidfd_.get(), POLLIN, 0};
  const bool may_be_refused = errno == ENOSYS || errno == EPERM;
  return may_be_refused && ::poll(&its_end, 1, 0) == 0 && ::kill(number_, signal_number) == 0;
}

void HeldProcess::forget() noexcept {
  number_ = -1;
  pidfd_.reset();
}

}  // namespace pinwire::launch
