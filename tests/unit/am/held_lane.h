// The lane that a handler's thread holds, for tests that call as handlers do, or run handlers,
// without a poll.
#pragma once

#include <cstdint>

#include "core/engine/engine.h"

namespace pinwire::test {

/// Holds a lane, unless the poll that the test runs in holds it already.
class HeldLane {
 public:
  explicit HeldLane(uint32_t lane = 0, uint32_t driver = 0) noexcept
      : lane_(engine.drivers[driver].lanes[lane]), is_new_(lane_.try_lock()) {}
  ~HeldLane() {
    if (is_new_) lane_.unlock();
  }
  HeldLane(const HeldLane&) = delete;

 private:
  DriverLane& lane_;
  const bool is_new_;
};

/// From here on this thread is in a handler, of a message that came on this lane.
inline void begin_handler(uint32_t lane = 0, uint32_t driver = 0) noexcept {
  engine.drivers[driver].lanes[lane].try_lock();
  this_thread.in_handler = true;
}
inline void end_handler(uint32_t lane = 0, uint32_t driver = 0) noexcept {
  this_thread.in_handler = false;
  engine.drivers[driver].lanes[lane].unlock();
}

}  // namespace pinwire::test
