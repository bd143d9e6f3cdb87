#include "core/trace/trace_state.h"

#include <sched.h>
#include <unistd.h>

#include <cstdio>

#include "core/base/clock.h"
#include "core/trace/client_trace.h"

namespace pinwire {
namespace {

/// "1.234567 2/4711 (P) ": seconds since the start, rank, thread, letter.
size_t begin_line(char* line, size_t room, char letter) noexcept {
  return static_cast<size_t>(
      std::snprintf(line, room, "%.6f %u/%d (%c) ",
                    1e-9 * static_cast<double>(trace_now_ns() - trace_state->begin_ns),
                    trace_state->request.rank, gettid(), letter));
}

}  // namespace

TraceState* trace_state = nullptr;

uint64_t trace_now_ns() noexcept { return monotonic_ns(); }

// acquire pairs with the release in unlock_trace()
bool try_lock_trace() noexcept {
  return !trace_state->locked.exchange(true, std::memory_order_acquire);
}
void lock_trace() noexcept {
  while (!try_lock_trace()) sched_yield();
}
void unlock_trace() noexcept { trace_state->locked.store(false, std::memory_order_release); }

void publish_letters() noexcept {
  const TraceRequest& request = trace_state->request;
  // The client's unsuppressable lines need no mask, only a file.
  const TraceLetters always = letter_bit('U');
  const TraceLetters traced = trace_state->trace.is_open() ? request.trace_letters | always : 0;
  const TraceLetters counted = trace_state->stats.is_open() ? request.stats_letters | always : 0;
  __atomic_store_n(&pinwire_traced_letters, traced, __ATOMIC_RELAXED);
  watched_letters = traced | counted;
}

size_t begin_trace_line(char* line, size_t room, char letter) noexcept {
  const size_t used = begin_line(line, room, letter);
  const SourceLine at = source_line();
  if (at.file == nullptr || (trace_state->request.trace_letters & letter_bit('N')) == 0)
    return used;
  return used + static_cast<size_t>(
                    std::snprintf(line + used, room - used, "[%.64s:%u] ", at.file, at.line));
}

void write_text(TraceFile& file, char letter, const char* text) noexcept {
  char line[1280];
  size_t used = &file == &trace_state->trace ? begin_trace_line(line, sizeof line, letter)
                                             : begin_line(line, sizeof line, letter);
  used += static_cast<size_t>(std::snprintf(line + used, sizeof line - used, "%s\n", text));
  file.write_line(line, used, trace_state->request.flush);
}

}  // namespace pinwire
