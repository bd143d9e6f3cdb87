// nicfw has no clock of its own: production passes the TSC, the simulator passes virtual time.
#pragma once

#include <cstdint>

namespace pinwire {

class Clock {
 public:
  virtual ~Clock() = default;
  /// Monotonic nanoseconds. Called once per poll; after a poll that came late, by the first post()
  /// and those that double their number.
  virtual uint64_t now_ns() noexcept = 0;
};

}  // namespace pinwire
