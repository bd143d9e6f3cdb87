// Runs a debugging program (gdb, addr2line) from a process that is dying, perhaps in a signal
// handler.
#pragma once

#include <limits.h>

namespace pinwire {

/// A program of the PATH, looked for once and ahead of need: the search is not async-signal-safe. A
/// privileged program (core/base/privilege.h) finds none.
struct DebugProgram {
  char path[PATH_MAX] = "";
  bool found() const noexcept { return path[0] != '\0'; }
};
DebugProgram find_debug_program(const char* name) noexcept;

/// Its standard output; owned by the caller.
struct ProgramOutput {
  const char* text = nullptr;
  unsigned long bytes = 0;
};

/// Waits for it, at most `limit_s`, and kills it then. It may attach to this process as a debugger.
/// Async-signal-safe. Nothing was written if it could not be run.
ProgramOutput run_debug_program(const DebugProgram& program, const char* const* arguments,
                                int limit_s) noexcept;
void release(ProgramOutput& output) noexcept;

}  // namespace pinwire
