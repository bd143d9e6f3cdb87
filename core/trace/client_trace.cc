#include "core/trace/client_trace.h"

#include <cstdio>
#include <cstring>

#include "core/trace/trace_state.h"

uint32_t pinwire_traced_letters = 0;

namespace pinwire {
namespace {

thread_local constinit SourceLine here;
thread_local constinit int frozen = 0;

constinit std::atomic<StatsCallback> stats_callback{nullptr};
constinit std::atomic<StatsPrint> stats_print{nullptr};

bool is_on() noexcept { return trace_state != nullptr && !trace_state->finished.load(); }

TraceFile& file_of(ClientFile which) noexcept {
  return which == ClientFile::kTrace ? trace_state->trace : trace_state->stats;
}
TraceLetters& letters_of(ClientFile which) noexcept {
  TraceRequest& request = trace_state->request;
  return which == ClientFile::kTrace ? request.trace_letters : request.stats_letters;
}

}  // namespace

void client_line(ClientFile to, char letter, const char* format, va_list values) noexcept {
  if (!watches(letter)) return;
  char text[kClientLineBytesMax];
  std::vsnprintf(text, sizeof text, format, values);
  lock_trace();
  const TraceLetters wanted = letters_of(to) | letter_bit('U');
  if (file_of(to).is_open() && (wanted & letter_bit(letter)) != 0)
    write_text(file_of(to), letter, text);
  unlock_trace();
}

TraceLetters client_mask(ClientFile of) noexcept { return is_on() ? letters_of(of) : 0; }

void set_client_mask(ClientFile of, TraceLetters letters) noexcept {
  if (!is_on() || !file_of(of).is_open()) return;
  lock_trace();
  letters_of(of) = letters;
  publish_letters();
  unlock_trace();
}

bool traces_local() noexcept { return is_on() && trace_state->request.local; }

void set_traces_local(bool wanted) noexcept {
  if (!is_on()) return;
  lock_trace();
  trace_state->request.local = wanted;
  unlock_trace();
}

SourceLine source_line() noexcept { return here; }

void set_source_line(const char* file, unsigned line) noexcept {
  if (frozen > 0) return;
  const char* slash = file != nullptr ? std::strrchr(file, '/') : nullptr;
  here = {slash != nullptr ? slash + 1 : file, line};
}

void freeze_source_line(int by) noexcept { frozen += by; }

bool set_stats_callback(StatsCallback callback, StatsPrint print) noexcept {
  stats_print = print;
  stats_callback = callback;
  return (client_mask(ClientFile::kStats) & letter_bit('H')) != 0;
}

void ask_client_for_statistics() noexcept {
  const StatsCallback callback = stats_callback;
  if (callback != nullptr && (client_mask(ClientFile::kStats) & letter_bit('H')) != 0)
    callback(stats_print);
}

void dump_statistics(bool is_reset) noexcept {
  if (!is_on() || !trace_state->stats.is_open()) return;
  ask_client_for_statistics();
  lock_trace();
  write_sums();
  trace_state->stats.flush();
  for (TraceSum& sum : trace_state->sums)
    if (is_reset) sum = {};
  unlock_trace();
}

}  // namespace pinwire
