// Turns of the lanes: what has arrived is taken, and its handlers run.
#pragma once

#include <cstdint>

namespace pinwire {

/// One turn: this thread's lane, then one other in rotation. Returns how much was found; 1 when it
/// was nothing but the one-sided work of peers. Client context only.
uint32_t poll() noexcept;

/// One turn over all lanes of all drivers: what arrived before is handled then, but where another
/// thread has the lane, which is polled again before anyone may sleep (am/interrupts/dispatcher.h).
uint32_t poll_everything() noexcept;

/// The same for a thread of the library that does nothing else, and would keep lanes from the
/// threads that wait to send there: it leaves each to them for as long as its last turn took.
uint32_t poll_politely() noexcept;

/// In GASNET_DISPATCH=nicproc: client threads wait for it.
inline constinit bool only_dispatcher_polls = false;

/// One turn for a thread that waits inside a handler: replies and completions of the driver's lane
/// that it holds.
uint32_t poll_in_handler(uint32_t driver, uint32_t lane) noexcept;

}  // namespace pinwire
