// Backtraces of this process, for people: on fatal errors and signals, and when asked for
// (GASNET_BACKTRACE and its kin).
//
// Mechanisms, tried in order until one writes something:
//   GDB       the debugger, if it is installed: all threads, arguments, lines
//   EXECINFO  libc's, of the calling thread; lines by addr2line, if that is installed
//   others    that the client brings (gasnet_tools.h)
#pragma once

#include <string_view>

namespace pinwire {

inline constexpr const char* kBacktraceTypes = "GDB,EXECINFO";

/// Writes a backtrace of the calling thread at least to `fd`; 0 if it did. Async-signal-safe.
using BacktraceFunction = int (*)(int fd);

struct BacktraceType {
  const char* name;  ///< outlives the process's threads
  BacktraceFunction write;
  bool all_threads;
};

/// Finds what the mechanisms need. `types`: names, separated by commas, in order of preference;
/// empty: all. `all_threads`: mechanisms that show all threads go first. Returns the first name
/// that nobody knows, empty if there is none; that one is passed over. Before any backtrace; not
/// async-signal-safe.
std::string_view prepare_backtraces(std::string_view types = {}, bool all_threads = true) noexcept;

/// A mechanism of the client's, to be named in prepare_backtraces; tried first where all are.
void add_backtrace_type(const BacktraceType& type) noexcept;

/// 0 if one of the mechanisms wrote a backtrace. Async-signal-safe once prepared, in any thread,
/// one at a time.
int print_backtrace(int fd) noexcept;

}  // namespace pinwire
