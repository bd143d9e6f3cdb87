#include "core/trace/trace.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <utility>

#include "core/trace/trace_file.h"

namespace pinwire {
namespace {

/// What the numbers of an event are.
enum class Shape : uint8_t { kTransfer, kMessage, kWait, kNamedWait, kPlain };

struct EventKind {
  char letter;
  Shape shape;
  const char* name;
};
constexpr EventKind kKinds[] = {
    {'G', Shape::kTransfer, "get"},
    {'G', Shape::kTransfer, "get_nb"},
    {'G', Shape::kTransfer, "get_nbi"},
    {'P', Shape::kTransfer, "put"},
    {'P', Shape::kTransfer, "put_nb"},
    {'P', Shape::kTransfer, "put_nbi"},
    {'P', Shape::kTransfer, "memset"},
    {'P', Shape::kTransfer, "memset_nb"},
    {'P', Shape::kTransfer, "memset_nbi"},
    {'S', Shape::kWait, "sync_wait"},
    {'S', Shape::kWait, "sync_try"},
    {'B', Shape::kNamedWait, "barrier_notify"},
    {'B', Shape::kNamedWait, "barrier_wait"},
    {'B', Shape::kNamedWait, "barrier_try"},
    {'L', Shape::kWait, "hsl_lock"},
    {'L', Shape::kPlain, "hsl_trylock"},
    {'L', Shape::kPlain, "hsl_unlock"},
    {'A', Shape::kMessage, "request_short"},
    {'A', Shape::kMessage, "request_medium"},
    {'A', Shape::kMessage, "request_long"},
    {'A', Shape::kMessage, "reply_short"},
    {'A', Shape::kMessage, "reply_medium"},
    {'A', Shape::kMessage, "reply_long"},
    {'A', Shape::kMessage, "handler"},
    {'X', Shape::kPlain, "poll"},
};
constexpr size_t kEventCount = static_cast<size_t>(Event::kCount);
static_assert(std::size(kKinds) == kEventCount);

/// Of one kind of event: bytes, or nanoseconds.
struct Sum {
  uint64_t count = 0, total = 0, least = ~uint64_t{0}, most = 0;
  void add(uint64_t value) noexcept {
    ++count;
    total += value;
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

struct State {
  std::atomic<bool> locked{false};
  TraceRequest request;
  TraceFile trace, stats;
  Sum sums[kEventCount];
  uint64_t begin_ns = 0;
};
State* state = nullptr;  // made by open_trace where there is something to record

uint64_t now_ns() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

// acquire pairs with the release in unlock()
bool try_lock() noexcept { return !state->locked.exchange(true, std::memory_order_acquire); }
void lock() noexcept {
  while (!try_lock()) sched_yield();
}
void unlock() noexcept { state->locked.store(false, std::memory_order_release); }

bool is_timed(Shape shape) noexcept { return shape == Shape::kWait || shape == Shape::kNamedWait; }

/// "1.234567 2/4711 (P) ": seconds since the start, rank, thread, letter.
int begin_line(char* line, size_t room, char letter) noexcept {
  return std::snprintf(line, room, "%.6f %u/%d (%c) ",
                       1e-9 * static_cast<double>(now_ns() - state->begin_ns), state->request.rank,
                       gettid(), letter);
}

void write_event(const EventKind& kind, uint32_t node, uint64_t value, uint32_t detail) noexcept {
  char line[256];
  int used = begin_line(line, sizeof line, kind.letter);
  const auto rest = [&] { return sizeof line - static_cast<size_t>(used); };
  used += std::snprintf(line + used, rest(), "%s", kind.name);
  const double us = 1e-3 * static_cast<double>(value);
  const auto bytes = static_cast<unsigned long long>(value);
  switch (kind.shape) {
    case Shape::kTransfer:
      used += std::snprintf(line + used, rest(), " node=%u bytes=%llu", node, bytes);
      break;
    case Shape::kMessage:
      used +=
          std::snprintf(line + used, rest(), " node=%u handler=%u bytes=%llu", node, detail, bytes);
      break;
    case Shape::kNamedWait:
      used += std::snprintf(line + used, rest(), " id=%d us=%.3f", static_cast<int>(detail), us);
      break;
    case Shape::kWait:
      used += std::snprintf(line + used, rest(), " us=%.3f", us);
      break;
    case Shape::kPlain:
      break;
  }
  line[used++] = '\n';
  state->trace.write_line(line, static_cast<size_t>(used), state->request.flush);
}

void write_sum(const EventKind& kind, const Sum& sum) noexcept {
  char line[256];
  int used = std::snprintf(line, sizeof line, "rank %u (%c) %s: %llu", state->request.rank,
                           kind.letter, kind.name, static_cast<unsigned long long>(sum.count));
  const bool is_timed_kind = is_timed(kind.shape);
  if (kind.shape != Shape::kPlain) {
    const double scale = is_timed_kind ? 1e-3 : 1;
    const auto scaled = [scale](uint64_t value) { return scale * static_cast<double>(value); };
    used += std::snprintf(line + used, sizeof line - static_cast<size_t>(used),
                          ", %s total/avg/min/max %.10g/%.6g/%.10g/%.10g",
                          is_timed_kind ? "us" : "bytes", scaled(sum.total),
                          scaled(sum.total) / static_cast<double>(sum.count), scaled(sum.least),
                          scaled(sum.most));
  }
  line[used++] = '\n';
  state->stats.write_line(line, static_cast<size_t>(used), false);
}

void write_statistics() noexcept {
  for (size_t i = 0; i < kEventCount; ++i)
    if (state->sums[i].count != 0) write_sum(kKinds[i], state->sums[i]);
}

}  // namespace

Status open_trace(const TraceRequest& request) {
  if (request.trace_file.empty() && request.stats_file.empty()) return success();
  state = new State;
  state->request = request;
  if (!request.trace_file.empty()) {
    auto opened = state->trace.open("GASNET_TRACEFILE", request.trace_file, request.rank);
    if (!opened) return opened;
  } else {
    state->request.trace_letters = 0;
  }
  if (request.stats_file.empty()) {
    state->request.stats_letters = 0;
    return success();
  }
  return state->stats.open("GASNET_STATSFILE", request.stats_file, request.rank);
}

void start_trace() noexcept {
  if (state == nullptr) return;
  state->begin_ns = now_ns();
  watched_letters = state->request.trace_letters | state->request.stats_letters;
}

void finish_trace() noexcept {
  if (state == nullptr) return;
  // Other threads may record, and this may be a signal handler on top of one that does.
  constexpr int kTurnsMax = 1000;
  for (int turn = 0; !try_lock(); ++turn) {
    if (turn == kTurnsMax) return;
    usleep(100);
  }
  watched_letters = 0;
  if (state->stats.is_open()) write_statistics();
  state->trace.close();
  state->stats.close();
  // Stays locked: whoever was on the way in waits until the process ends.
}

void record_event(Event event, uint32_t node, uint64_t value, uint32_t detail) noexcept {
  const auto index = static_cast<size_t>(event);
  const EventKind& kind = kKinds[index];
  if (!watches(kind.letter)) return;
  const TraceRequest& request = state->request;
  lock();
  if ((request.stats_letters & letter_bit(kind.letter)) != 0) state->sums[index].add(value);
  const bool is_left_out = !request.local && kind.shape == Shape::kTransfer && node == request.rank;
  if ((request.trace_letters & letter_bit(kind.letter)) != 0 && !is_left_out)
    write_event(kind, node, value, detail);
  unlock();
}

void TimedEvent::begin() noexcept { begin_ns_ = now_ns(); }
void TimedEvent::end() noexcept {
  if (begin_ns_ != 0) record_event(event_, 0, now_ns() - begin_ns_, detail_);
}

void trace_line(char letter, const char* format, ...) noexcept {
  if (!watches(letter)) return;
  char text[512];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  char line[640];
  lock();
  for (const auto& [letters, file] : {std::pair{state->request.trace_letters, &state->trace},
                                      std::pair{state->request.stats_letters, &state->stats}}) {
    if ((letters & letter_bit(letter)) == 0) continue;
    int used = begin_line(line, sizeof line, letter);
    used += std::snprintf(line + used, sizeof line - static_cast<size_t>(used), "%s\n", text);
    file->write_line(line, static_cast<size_t>(used), state->request.flush);
  }
  unlock();
}

}  // namespace pinwire
