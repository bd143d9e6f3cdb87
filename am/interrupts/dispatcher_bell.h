// The event that wakes the dispatcher (dispatcher.h) so that it looks again. Usable in signal
// context, too.
#pragma once

#include <atomic>
#include <cstdint>

namespace pinwire {

struct DispatcherBell {
  int fd = -1;                            ///< an eventfd, from start_dispatcher() on
  std::atomic<int64_t> room_until_ns{0};  ///< CLOCK_MONOTONIC; before that it asks no client
};
inline constinit DispatcherBell dispatcher_bell;

/// It may have waited for this: look again.
void wake_dispatcher() noexcept;
/// The same for a client that has handled messages for long, and there may be more: it has
/// `own_work_ns` for itself before it is asked again.
void wake_dispatcher_later(int64_t own_work_ns) noexcept;

}  // namespace pinwire
