#include "core/bootstrap/launcher_watch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "core/base/log.h"
#include "core/base/threads/library_thread.h"
#include "core/bootstrap/launcher_gone.h"

namespace pinwire::bootstrap {

bool LauncherWatch::is_needed() noexcept {
  int number = 0;
  return ::prctl(PR_GET_PDEATHSIG, &number) != 0 || number != SIGKILL;
}

LauncherWatch::LauncherWatch(int socket_fd) noexcept
    : socket_fd_(socket_fd), owner_(::getpid()), stop_fd_(::eventfd(0, EFD_CLOEXEC)) {
  const int failed = stop_fd_ < 0 ? errno : start_library_thread(&thread_, run, this);
  runs_ = failed == 0;
  if (runs_) return;
  log_warning("this rank cannot watch its launcher, and may outlive it: %s; %s",
              std::strerror(failed), kRaiseThreads);
}

LauncherWatch::~LauncherWatch() {
  if (runs_ && ::getpid() == owner_) {
    const uint64_t one = 1;
    [[maybe_unused]] const auto wrote = ::write(stop_fd_, &one, sizeof one);
    ::pthread_join(thread_, nullptr);
  }
  if (stop_fd_ >= 0) ::close(stop_fd_);
}

void* LauncherWatch::run(void* watch) {
  static_cast<const LauncherWatch*>(watch)->work();
  return nullptr;
}

void LauncherWatch::work() const noexcept {
  // No events are asked for: what the launcher sends is for recv() in the client's thread, and
  // POLLHUP comes in any case.
  pollfd both[2] = {{socket_fd_, 0, 0}, {stop_fd_, POLLIN, 0}};
  while (::poll(both, 2, -1) < 0 && errno == EINTR) {
  }
  if ((both[1].revents & POLLIN) != 0) return;
  if ((both[0].revents & POLLHUP) != 0) end_without_launcher("the launcher (gasnetrun_pinwire)");
}

}  // namespace pinwire::bootstrap
