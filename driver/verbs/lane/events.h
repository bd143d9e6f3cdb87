// Events that the device tells by itself: ports that go down, queues that break.
#pragma once

#include "driver/verbs/lane/shared.h"

namespace pinwire::verbs {

/// Takes what has been told since the last look; never waits. An event that no job survives becomes
/// the driver's failure; a port that is down does if it stays so for longer than the device repeats
/// requests (outage.h).
void note_events(Shared& shared) noexcept;

/// Before the failure of a transfer is noted: what may have caused it, an event or a port that is
/// down, says more. It may come a little later; the job is over in any case, and waits for it so
/// long.
void note_cause(Shared& shared, uint32_t patience_ms) noexcept;

}  // namespace pinwire::verbs
