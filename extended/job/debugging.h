// The debugging aids that the user asked for: GASNET_BACKTRACE, GASNET_FREEZE and the like.
#pragma once

#include "extended/state/job.h"

namespace pinwire {

/// Arranges for backtraces and freezes on errors and signals; waits for a debugger if asked to.
/// Knows this process's rank.
void prepare_debugging(const Settings& settings) noexcept;

/// Opens what GASNET_TRACEFILE and GASNET_STATSFILE name, if this rank is to write them.
Status prepare_trace(const Settings& settings);
/// Letter I: the settings. Letter C: the drivers' counters.
void report_settings(const Lookup& lookup);
void report_counters() noexcept;

}  // namespace pinwire
