// The client's own lines in trace and statistics: core/api/pinwire_trace.h.
#include <cstdarg>

#include "am/interrupts/interrupts.h"
#include "core/api_types.h"
#include "core/base/log.h"
#include "core/config/letters.h"
#include "core/trace/client_trace.h"

namespace pinwire {
namespace {

/// As GETMASK gives it to clients: until the next call of this thread.
const char* mask_text(ClientFile of) noexcept {
  static thread_local char text[32];
  const TraceLetters mask = client_mask(of);
  size_t used = 0;
  for (const char* letter = kTraceLetters; *letter != '\0'; ++letter)
    if ((mask & letter_bit(*letter)) != 0) text[used++] = *letter;
  text[used] = '\0';
  return text;
}

void set_mask(ClientFile of, const char* call, const char* text) noexcept {
  // As GETMASK writes it: unlike in the environment, no letters are none.
  const auto mask = *text == '\0' ? 0 : parse_letters(text, kTraceLetters);
  if (mask) return set_client_mask(of, *mask);
  log_warning("%s(\"%s\"): letters of %s are known, perhaps after a ^", call, text, kTraceLetters);
}

}  // namespace
}  // namespace pinwire

using namespace pinwire;  // NOLINT: this file is the C ABI of the names above

#define PINWIRE_CLIENT_LINE(name, file, letter) \
  void name(const char* format, ...) {          \
    if (!watches(letter)) return;               \
    const RareCall inside;                      \
    va_list values;                             \
    va_start(values, format);                   \
    client_line(file, letter, format, values);  \
    va_end(values);                             \
  }

extern "C" {

PINWIRE_CLIENT_LINE(pinwire_trace_printf, ClientFile::kTrace, 'H')
PINWIRE_CLIENT_LINE(pinwire_trace_printf_force, ClientFile::kTrace, 'U')
PINWIRE_CLIENT_LINE(pinwire_stats_printf, ClientFile::kStats, 'H')
PINWIRE_CLIENT_LINE(pinwire_stats_printf_force, ClientFile::kStats, 'U')

const char* pinwire_trace_mask() { return mask_text(ClientFile::kTrace); }
const char* pinwire_stats_mask() { return mask_text(ClientFile::kStats); }
void pinwire_set_trace_mask(const char* mask) {
  const RareCall inside;
  set_mask(ClientFile::kTrace, "GASNETT_TRACE_SETMASK", mask);
}
void pinwire_set_stats_mask(const char* mask) {
  const RareCall inside;
  set_mask(ClientFile::kStats, "GASNETT_STATS_SETMASK", mask);
}
int pinwire_trace_local() { return traces_local(); }
void pinwire_set_trace_local(int is_on) {
  const RareCall inside;
  set_traces_local(is_on != 0);
}

void pinwire_set_source_line(const char* file, unsigned line) { set_source_line(file, line); }
void pinwire_get_source_line(const char** file, unsigned* line) {
  const SourceLine at = source_line();
  *file = at.file;
  *line = at.line;
}
void pinwire_freeze_source_line(int by) { freeze_source_line(by); }

int pinwire_stats_init(void (*callback)(void (*print)(const char* format, ...))) {
  const RareCall inside;
  return set_stats_callback(callback, pinwire_stats_printf);
}
void pinwire_stats_dump(int is_reset) {
  const RareCall inside;
  dump_statistics(is_reset != 0);
}

}  // extern "C"
