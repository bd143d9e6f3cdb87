#include "driver/failure_note.h"

#include <cstdarg>
#include <cstdio>

namespace pinwire {

void FailureNote::record(Rank peer, WorkStatus status, const char* format, ...) noexcept {
  int expected = kNone;
  if (!state_.compare_exchange_strong(expected, kWriting, std::memory_order_relaxed)) return;
  failure_.peer = peer;
  failure_.status = status;
  va_list values;
  va_start(values, format);
  std::vsnprintf(failure_.sentence, sizeof failure_.sentence, format, values);
  va_end(values);
  state_.store(kWritten, std::memory_order_release);
}

}  // namespace pinwire
