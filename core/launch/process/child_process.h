// A child that this process forked. Its object alone reaps it, and forgets its number with that; no
// wait for any child stands beside it.
#pragma once

#include <signal.h>

#include <functional>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/launch/process/held_process.h"

namespace pinwire::launch {

class ChildProcess {
 public:
  ChildProcess() = default;
  explicit ChildProcess(pid_t number) : process_(number) {}
  ChildProcess(ChildProcess&&) = default;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  /// A child that is not reaped yet is killed.
  ~ChildProcess() { signal(SIGKILL); }

  pid_t number() const noexcept { return process_.number(); }  ///< -1: none, or reaped
  int end_fd() const noexcept { return process_.end_fd(); }
  void signal(int signal_number) const noexcept { process_.signal(signal_number); }
  /// Its wait status, if it has ended.
  std::optional<int> reap() noexcept;
  /// It goes on without this process, which may still be told of its end (reap_children()).
  void let_go() noexcept { process_.forget(); }

 private:
  HeldProcess process_;
};

/// fork(2), with a sentence where there is no child.
Result<pid_t> fork_child();

/// "was killed by signal 9 (Killed)" or "ended with code 3".
std::string how_it_ended(int wait_status);

/// Tells of every child that has ended and waits to be reaped. `reap_own` has the object that holds
/// this number reap it, and returns whether there was one. The others are reaped here: orphans of
/// ranks, and children that this process had before it executed its program.
void reap_children(const std::function<bool(pid_t)>& reap_own);

}  // namespace pinwire::launch
