// Starts a program for a test, and returns when it runs.
#pragma once

#include <poll.h>
#include <sys/wait.h>

#include "core/launch/process/process.h"

namespace pinwire::launch {

inline Result<ChildProcess> start_program(const ProcessPlan& plan) {
  auto begun = begin_process(plan);
  if (!begun) return begun.error();
  pollfd known{begun->report.fd(), POLLIN, 0};
  ::poll(&known, 1, -1);
  if (const auto runs = begun->report.read(); runs && !*runs) return runs->error();
  return std::move(begun->process);
}

/// Waits for the end of a child, and returns its wait status.
inline int end_of(ChildProcess& child) {
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(child.number()), &ended, WEXITED | WNOWAIT);
  return child.reap().value_or(-1);
}

}  // namespace pinwire::launch
