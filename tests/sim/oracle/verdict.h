// The outcome of one simulated run: the first broken promise, with the virtual time at which it
// broke.
#pragma once

#include <cstdint>
#include <string>

#include "tests/sim/schedule.h"

namespace pinwire::sim {

class Verdict {
 public:
  explicit Verdict(const Schedule& schedule, bool trace = false)
      : schedule_(schedule), trace_(trace) {}

  [[gnu::format(printf, 2, 3)]] void fail(const char* format, ...);
  bool failed() const noexcept { return !sentence_.empty(); }
  const std::string& sentence() const noexcept { return sentence_; }

  bool tracing() const noexcept { return trace_; }
  /// One line on stdout with the virtual time; nothing without --trace.
  [[gnu::format(printf, 2, 3)]] void trace(const char* format, ...) const;

 private:
  const Schedule& schedule_;
  bool trace_;
  std::string sentence_;
};

}  // namespace pinwire::sim
