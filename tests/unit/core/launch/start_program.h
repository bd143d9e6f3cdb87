// Starts a program for a test, and returns when it runs.
#pragma once

#include <poll.h>

#include "core/launch/process.h"

namespace pinwire::launch {

inline Result<ChildProcess> start_program(const ProcessPlan& plan) {
  auto begun = begin_process(plan);
  if (!begun) return begun.error();
  pollfd known{begun->report.fd(), POLLIN, 0};
  ::poll(&known, 1, -1);
  if (const auto runs = begun->report.read(); runs && !*runs) return runs->error();
  return std::move(begun->process);
}

}  // namespace pinwire::launch
