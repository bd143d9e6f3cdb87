// Ends a rank when the other end of its launcher's socket closes, also while the client computes.
//
// The kernel kills an ordinary rank together with its launcher (PR_SET_PDEATHSIG), at no cost. It
// forgets that promise when a privileged program (file capabilities, set-user-ID) is executed, and
// does not extend it to the children of a rank's wrapper. The launcher's janitor finds such ranks,
// too, unless it is killed with the launcher. Only they have the thread.
#pragma once

#include <pthread.h>

namespace pinwire::bootstrap {

class LauncherWatch {
 public:
  /// Whether the kernel will not kill this process with its launcher.
  static bool is_needed() noexcept;
  /// Warns, and watches nothing, if the system has no thread left.
  explicit LauncherWatch(int socket_fd) noexcept;
  ~LauncherWatch();
  LauncherWatch(const LauncherWatch&) = delete;
  LauncherWatch& operator=(const LauncherWatch&) = delete;

 private:
  static void* run(void* watch);
  void work() const noexcept;

  const int socket_fd_;
  const int owner_;    // a child that the client forks has no such thread
  const int stop_fd_;  // an eventfd
  pthread_t thread_{};
  bool runs_ = false;
};

}  // namespace pinwire::bootstrap
