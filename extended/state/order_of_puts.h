// The order of puts and barriers, for ThreadSanitizer, which sees no peer.
#pragma once

#include "core/engine/engine.h"

namespace pinwire {

/// Called before and after a barrier over lines or by way of the launcher. Another thread of this
/// process may carry out a peer's puts and messages under a lane's lock: the peer's line comes
/// after its earlier puts, and this rank's line before its later ones, but ThreadSanitizer does not
/// see a peer.
inline void show_order_of_puts() noexcept {
#ifdef __SANITIZE_THREAD__
  engine.visit_lanes([](uint32_t driver, uint32_t lane) noexcept {
    engine.drivers[driver].lanes[lane].lock(engine.spins_now);
    engine.drivers[driver].lanes[lane].unlock();
    return true;
  });
#endif
}

}  // namespace pinwire
