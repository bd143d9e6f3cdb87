// nicfw has no clock of its own: production passes the TSC, the simulator passes virtual time.
#pragma once

#include <cstdint>

namespace pinwire {

class Clock {
 public:
  virtual ~Clock() = default;
  /// Monotonic nanoseconds. Called once per poll, and by the first post() after a poll that came
  /// late.
  virtual uint64_t now_ns() noexcept = 0;
};

}  // namespace pinwire
