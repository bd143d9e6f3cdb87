#include "core/trace/trace.h"

#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "core/trace/client_trace.h"
#include "core/trace/trace_state.h"

namespace pinwire {
namespace {

/// The meaning of an event's numbers.
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
    {'R', Shape::kTransfer, "atomic"},
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

bool is_timed(Shape shape) noexcept { return shape == Shape::kWait || shape == Shape::kNamedWait; }

/// "(D) put 00ff 2 of 2 bytes": the first of them.
void write_data(const EventKind& kind, const void* data, uint64_t bytes) noexcept {
  constexpr uint64_t kShownMax = 32;
  const uint64_t shown = std::min(bytes, kShownMax);
  char line[256];
  size_t used = begin_trace_line(line, sizeof line, 'D');
  const auto add = [&](const char* format, auto... values) {
    used += static_cast<size_t>(std::snprintf(line + used, sizeof line - used, format, values...));
  };
  add("%s ", kind.name);
  for (uint64_t i = 0; i < shown; ++i) add("%02x", static_cast<const unsigned char*>(data)[i]);
  add(" %llu of %llu bytes\n", static_cast<unsigned long long>(shown),
      static_cast<unsigned long long>(bytes));
  trace_state->trace.write_line(line, used, trace_state->request.flush);
}

void write_event(const EventKind& kind, uint32_t node, uint64_t value, uint32_t detail) noexcept {
  char line[256];
  auto used = static_cast<int>(begin_trace_line(line, sizeof line, kind.letter));
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
  trace_state->trace.write_line(line, static_cast<size_t>(used), trace_state->request.flush);
}

void write_sum(const EventKind& kind, const TraceSum& sum) noexcept {
  char line[256];
  int used = std::snprintf(line, sizeof line, "rank %u (%c) %s: %llu", trace_state->request.rank,
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
  trace_state->stats.write_line(line, static_cast<size_t>(used), false);
}

}  // namespace

void write_sums() noexcept {
  for (size_t i = 0; i < kEventCount; ++i)
    if (trace_state->sums[i].count != 0) write_sum(kKinds[i], trace_state->sums[i]);
}

Status open_trace(const TraceRequest& request) {
  if (request.trace_file.empty() && request.stats_file.empty()) return success();
  trace_state = new TraceState;
  trace_state->request = request;
  if (!request.trace_file.empty()) {
    auto opened = trace_state->trace.open("GASNET_TRACEFILE", request.trace_file, request.rank);
    if (!opened) return opened;
  } else {
    trace_state->request.trace_letters = 0;
  }
  if (request.stats_file.empty()) {
    trace_state->request.stats_letters = 0;
    return success();
  }
  return trace_state->stats.open("GASNET_STATSFILE", request.stats_file, request.rank);
}

void start_trace() noexcept {
  if (trace_state == nullptr) return;
  trace_state->begin_ns = trace_now_ns();
  publish_letters();
}

void finish_trace() noexcept {
  if (trace_state == nullptr) return;
  ask_client_for_statistics();
  // Other threads may record, and this may be a signal handler on top of one that does.
  constexpr int kTurnsMax = 1000;
  for (int turn = 0; !try_lock_trace(); ++turn) {
    if (turn == kTurnsMax) return;
    usleep(100);
  }
  trace_state->finished = true;
  watched_letters = 0;
  __atomic_store_n(&pinwire_traced_letters, 0, __ATOMIC_RELAXED);
  if (trace_state->stats.is_open()) write_sums();
  trace_state->trace.close();
  trace_state->stats.close();
  // Stays locked: whoever was on the way in waits until the process ends.
}

void record_event(Event event, uint32_t node, uint64_t value, uint32_t detail,
                  const void* data) noexcept {
  const auto index = static_cast<size_t>(event);
  const EventKind& kind = kKinds[index];
  const bool has_data = data != nullptr && value != 0 && watches('D');
  if (!watches(kind.letter) && !has_data) return;
  const TraceRequest& request = trace_state->request;
  lock_trace();
  const auto traced = [&](char letter) {
    return (request.trace_letters & letter_bit(letter)) != 0;
  };
  if ((request.stats_letters & letter_bit(kind.letter)) != 0) trace_state->sums[index].add(value);
  const bool is_left_out = !request.local && kind.shape == Shape::kTransfer && node == request.rank;
  if (traced(kind.letter) && !is_left_out) write_event(kind, node, value, detail);
  if (has_data && traced('D') && !is_left_out) write_data(kind, data, value);
  unlock_trace();
}

void TimedEvent::begin() noexcept { begin_ns_ = trace_now_ns(); }
void TimedEvent::end() noexcept {
  if (begin_ns_ != 0) record_event(event_, 0, trace_now_ns() - begin_ns_, detail_);
}

void trace_line(char letter, const char* format, ...) noexcept {
  if (!watches(letter)) return;
  char text[512];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  lock_trace();
  if ((trace_state->request.trace_letters & letter_bit(letter)) != 0)
    write_text(trace_state->trace, letter, text);
  if ((trace_state->request.stats_letters & letter_bit(letter)) != 0)
    write_text(trace_state->stats, letter, text);
  unlock_trace();
}

}  // namespace pinwire
