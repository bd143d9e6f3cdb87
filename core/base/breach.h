// The reports of a debug build (-Dgasnet_debug=true) to the author of a client that breaks a
// convention of the specification: what was called, where that began which forbids it, which rule
// it is (a row of docs/CONFORMANCE.md), and which thread did it.
#pragma once

#include <cstdint>

namespace pinwire {

/// Where a client did something; no file: it called through a pointer, and nobody knows.
struct Place {
  const char* file = nullptr;
  int line = 0;
};

/// "file:line" for a sentence; lives as long as the expression that it is written in.
class PlaceText {
 public:
  explicit PlaceText(const Place& place) noexcept;
  const char* text() const noexcept { return text_; }

 private:
  char text_[256];
};

/// The sentence, the rule and the thread; then the process aborts. Safe in signal context.
[[noreturn, gnu::cold, gnu::format(printf, 2, 3)]] void breach(const char* rule, const char* format,
                                                               ...) noexcept;
/// Likewise, for what may be meant so: the process goes on.
[[gnu::cold, gnu::format(printf, 2, 3)]] void warn_of_breach(const char* rule, const char* format,
                                                             ...) noexcept;
/// The same for a breach that another thread of this process makes, or made before it ended.
[[gnu::cold, gnu::format(printf, 3, 4)]] void warn_of_breach_by(int thread_id, const char* rule,
                                                                const char* format, ...) noexcept;

}  // namespace pinwire
