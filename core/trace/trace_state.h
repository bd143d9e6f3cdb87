// Shared by the files of this folder: the open files, the sums, and the lock around them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "core/trace/trace.h"
#include "core/trace/trace_file.h"

namespace pinwire {

/// The sums of one kind of event: bytes, or nanoseconds.
struct TraceSum {
  uint64_t count = 0, total = 0, least = ~uint64_t{0}, most = 0;
  void add(uint64_t value) noexcept {
    ++count;
    total += value;
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

struct TraceState {
  std::atomic<bool> locked{false};
  std::atomic<bool> finished{false};  ///< then it stays locked
  TraceRequest request;               ///< its letters are those of files that are open
  TraceFile trace, stats;
  TraceSum sums[static_cast<size_t>(Event::kCount)];
  uint64_t begin_ns = 0;
};
/// Made by open_trace where there is something to record.
extern TraceState* trace_state;

uint64_t trace_now_ns() noexcept;
bool try_lock_trace() noexcept;
void lock_trace() noexcept;
void unlock_trace() noexcept;

/// "1.234567 2/4711 (P) ": seconds since the start, rank, thread, letter; then "[file.c:12] " while
/// N is traced and the client said so. Returns its length.
size_t begin_trace_line(char* line, size_t room, char letter) noexcept;
void write_text(TraceFile& file, char letter, const char* text) noexcept;
/// Writes the sums of all kinds that occurred.
void write_sums() noexcept;

/// The request's letters take effect.
void publish_letters() noexcept;
/// Calls what the client registered to print statistics of its own. Without the lock.
void ask_client_for_statistics() noexcept;

}  // namespace pinwire
