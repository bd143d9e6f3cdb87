#include "am/interrupts/dispatcher_bell.h"

#include "core/base/clock.h"
#include "core/base/descriptors/event_fd.h"

namespace pinwire {

void wake_dispatcher() noexcept { ring_event_fd(dispatcher_bell.fd); }

void wake_dispatcher_later(int64_t own_work_ns) noexcept {
  const int64_t until_ns = clock_ns(CLOCK_MONOTONIC) + own_work_ns;
  dispatcher_bell.room_until_ns.store(until_ns, std::memory_order_relaxed);
  wake_dispatcher();
}

}  // namespace pinwire
