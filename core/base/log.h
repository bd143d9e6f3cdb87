// Sentences of Pinwire to its user: one line per call, on stderr, prefixed with the rank and the
// host, written with a single write(2) so that lines of several ranks do not mix.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <string_view>

namespace pinwire {

/// The prefix of each line. Set once by the job's start; before that lines carry only "pinwire".
void log_identity(uint32_t rank, uint32_t rank_count, const char* host) noexcept;
/// This process was forked by the client after that: it is no rank, and does not speak for one. Its
/// lines say so, and of its end nobody is told. Safe in signal context.
bool is_child_of_rank() noexcept;

[[gnu::format(printf, 1, 2)]] void log_note(const char* format, ...) noexcept;
[[gnu::format(printf, 1, 2)]] void log_warning(const char* format, ...) noexcept;

/// Gets whole lines, each with its end.
using LogWriter = void (*)(std::string_view line);
/// Notes and warnings go to `writer` from now on; nullptr: to stderr again. For a launcher whose
/// loop writes them.
void log_through(LogWriter writer) noexcept;
/// `writer` writes the lines for stderr from now on, the last one of fatal() included; nullptr:
/// write(2) does so again. For a process that blocks signals, and would hear none while it waits
/// for room there.
void log_to_stderr_through(LogWriter writer) noexcept;

/// Says the sentence and aborts (SIGABRT): C1-025, C1-207. Safe in signal context.
[[noreturn, gnu::cold, gnu::format(printf, 1, 2)]] void fatal(const char* format, ...) noexcept;

/// Run once, before the abort of `fatal` or of a failed check (to tell the launcher, to print a
/// backtrace). Async-signal-safe functions only.
void on_fatal(void (*hook)() noexcept) noexcept;

}  // namespace pinwire
