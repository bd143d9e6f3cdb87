// The thread that finds what arrives while no client thread polls, in the dispatch modes that have
// one (PA-037, PA-050 to PA-053): it sleeps until something makes the event fd of a lane readable.
// Then, in `interrupt`, it has a client thread run the handlers; in `watchdog` only if nobody has
// polled for a while; in `thread` it runs them itself. In `nicproc` it never sleeps, and nobody
// else runs handlers.
//
// It serves the drivers meanwhile (acknowledgements, retransmission, the puts and gets of peers),
// so that a client that computes keeps nobody waiting for those.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/config/settings.h"
#include "driver/driver.h"

namespace pinwire {

/// Starts the dispatcher in any mode but poll, on these CPUs (none: on those of the calling
/// thread). To be called after the drivers are connected, before any message.
Status start_dispatcher(DispatchMode mode, uint32_t watchdog_us, const std::vector<uint32_t>& cpus);
/// Stops the dispatcher; returns when it has stopped, or soon. For the end of a process; any
/// thread.
void stop_dispatcher() noexcept;
/// Reports the counters of the dispatcher, and of client threads on its behalf
/// (am/interrupts/interrupts.h); nothing if there is no dispatcher.
void report_dispatch(StatSink& sink) noexcept;
}  // namespace pinwire
