// Children of a test, and a debugger that traces another process.
#pragma once

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "core/base/files/number_file.h"

namespace pinwire::launch {

/// A child that does `deed`, and is killed with this.
class Child {
 public:
  explicit Child(const std::function<void()>& deed) : number_(::fork()) {
    if (number_ != 0) return;
    deed();
    ::_exit(1);
  }
  ~Child() {
    ::kill(number_, SIGKILL);
    ::waitpid(number_, nullptr, 0);
  }
  Child(const Child&) = delete;
  pid_t number() const { return number_; }
  /// False after some 30 s.
  static bool comes(const std::function<bool()>& about) {
    for (int tries = 0; tries < 30'000; ++tries, ::usleep(1000))
      if (about()) return true;
    return false;
  }

 private:
  const pid_t number_;
};

/// Traces a process, and never waits for it, as a debugger that is stopped does.
class StoppedDebugger {
 public:
  explicit StoppedDebugger(pid_t process)
      : process_(process), child_([process] {
          if (::ptrace(PTRACE_SEIZE, process, nullptr, nullptr) == 0) ::pause();
        }) {}
  pid_t number() const { return child_.number(); }
  /// False: no process may be traced here.
  bool traces() const {
    const auto status = "/proc/" + std::to_string(process_) + "/status";
    return Child::comes(
        [&] { return number_in(status.c_str(), "TracerPid:") == static_cast<uint64_t>(number()); });
  }

 private:
  const pid_t process_;
  const Child child_;
};

}  // namespace pinwire::launch
