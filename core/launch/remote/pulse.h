// Says to the agents of other hosts, from time to time, that the launcher is still there: they end
// their ranks when they hear nothing for long. It is a process of its own, in a process group of
// its own, for a launcher that is stopped (SIGSTOP, a debugger) says nothing, and its network is
// well.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/launch/process/child_process.h"

namespace pinwire::launch {

class Pulse {
 public:
  /// `pipes`: of streams that share them (FrameStream::Out::kShared). It dies with the launcher.
  static Result<Pulse> start(const std::vector<int>& pipes, int64_t period_ms);
  Pulse(Pulse&&) = default;
  Pulse& operator=(Pulse&&) = default;
  /// Afterwards no descriptor is open there any more: agents see the end of their input.
  ~Pulse();
  pid_t number() const noexcept { return process_.number(); }
  /// A child of this process has ended: reaps it if it is this one. True if it was.
  bool reap(pid_t process) noexcept;
  /// Lets it go on if a stranger has stopped it since the last look: the hosts would end a job that
  /// is well. (The kernel tells of a child that stops by SIGCHLD.)
  void wake_if_stopped() const noexcept;

 private:
  explicit Pulse(ChildProcess process) : process_(std::move(process)) {}
  ChildProcess process_;
};

}  // namespace pinwire::launch
