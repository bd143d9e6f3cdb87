// The order of puts and barriers, for ThreadSanitizer, which sees no peer.
#pragma once

#include "core/engine/engine.h"

namespace pinwire {

/// Before a barrier over lines or by way of the launcher, and after it. What a peer puts or sends,
/// another thread of this process may carry out under a lane's lock: the peer's line comes after
/// its puts of before, and this rank's line before those that the peer puts then, but
/// ThreadSanitizer does not see a peer.
inline void show_order_of_puts() noexcept {
#ifdef __SANITIZE_THREAD__
  for (uint32_t d = 0; d < engine.driver_count; ++d) {
    for (uint32_t lane = 0; lane < engine.drivers[d].lane_count; ++lane) {
      engine.drivers[d].lanes[lane].lock(engine.spins_now);
      engine.drivers[d].lanes[lane].unlock();
    }
  }
#endif
}

}  // namespace pinwire
