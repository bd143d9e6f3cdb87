// The client's part in trace and statistics (GASNETT_TRACE_* and GASNETT_STATS_* of
// gasnet_tools.h): its lines, letter H, or U where no mask may suppress them; its source lines,
// letter N; the masks.
#pragma once

#include <cstdarg>

#include "core/trace/trace.h"

/// The letters that are written to the trace file, for the macros of core/api/pinwire_trace.h:
/// clients in C read it, so it is atomic by how it is used.
extern "C" uint32_t pinwire_traced_letters;

namespace pinwire {

enum class ClientFile : uint8_t { kTrace, kStats };
constexpr uint32_t kClientLineBytesMax = 1024;  ///< longer lines are cut

void client_line(ClientFile to, char letter, const char* format, va_list values) noexcept;

/// The mask of an open file; 0 if there is none, and setting it is in vain.
TraceLetters client_mask(ClientFile of) noexcept;
void set_client_mask(ClientFile of, TraceLetters letters) noexcept;
bool traces_local() noexcept;
void set_traces_local(bool is_on) noexcept;

struct SourceLine {
  const char* file = nullptr;  ///< without its folders; nullptr: the client has not said
  unsigned line = 0;
};
/// The source line of the calling thread. `file` must last.
SourceLine source_line() noexcept;
void set_source_line(const char* file, unsigned line) noexcept;
/// While frozen more often than unfrozen, it stays.
void freeze_source_line(int by) noexcept;

/// The client prints statistics of its own when the sums are written.
using StatsPrint = void (*)(const char* format, ...);
using StatsCallback = void (*)(StatsPrint print);
/// False: nothing of the client's is counted, so it will not be called.
bool set_stats_callback(StatsCallback callback, StatsPrint print) noexcept;
/// All sums as they are now; `is_reset`: from 0 again.
void dump_statistics(bool is_reset) noexcept;

}  // namespace pinwire
