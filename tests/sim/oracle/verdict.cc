#include "tests/sim/oracle/verdict.h"

#include <cstdarg>
#include <cstdio>

namespace pinwire::sim {

void Verdict::fail(const char* format, ...) {
  if (failed()) return;
  char text[1024];
  const int used =
      std::snprintf(text, sizeof text, "at %.3f us: ", static_cast<double>(schedule_.now()) / 1e3);
  va_list values;
  va_start(values, format);
  std::vsnprintf(text + used, sizeof text - static_cast<size_t>(used), format, values);
  va_end(values);
  sentence_ = text;
  trace("FAILED %s", text);
}

void Verdict::trace(const char* format, ...) const {
  if (!trace_) return;
  std::printf("%14.3f us  ", static_cast<double>(schedule_.now()) / 1e3);
  va_list values;
  va_start(values, format);
  std::vprintf(format, values);
  va_end(values);
  std::putchar('\n');
}

}  // namespace pinwire::sim
