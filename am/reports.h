// The counters of this folder, each by the name before the dot, for everything that prints or
// collects them.
#pragma once

#include "am/interrupts/dispatcher.h"
#include "am/poll/owed.h"
#include "am/wake/sleepers.h"

namespace pinwire {

struct Report {
  const char* name;
  void (*tell)(StatSink& sink) noexcept;
};
inline constexpr Report kReports[] = {
    {"dispatch", report_dispatch}, {"waits", report_waits}, {"replies", report_owed}};

}  // namespace pinwire
