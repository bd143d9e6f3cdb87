// One operation of an atomic domain, counted on an Op: by this CPU, by the NIC, or by a message
// that the target's CPU carries out (GX-157, GX-163).
//
// The three are atomic with each other, so that each operation goes the fastest way there is,
// whatever the rest of its domain does: this CPU and the target's handler use the same lock-free
// operations of core/api/pinwire_atomic.h on the same memory, and of a driver's atomics only those
// are used that meet the CPU's (Caps::atomics_meet_cpu).
#pragma once

#include <atomic>
#include <cstdint>

#include "am/progress.h"
#include "core/engine/target.h"
#include "extended/atomic_call.h"
#include "extended/ops.h"

namespace pinwire {

/// Starts an operation; `op.started` grows by one unless it is done when this returns. `result`:
/// where the old value goes, nullptr of an operation that returns none. `under_way` counts it while
/// it is, nullptr: nobody does. Client context. False: there was no room, and `patience` does not
/// wait.
bool start_atomic(Target to, void* address, const AtomicCall& call, void* result, pinwire_op& op,
                  std::atomic<uint32_t>* under_way, Patience patience) noexcept;

void register_atomic_handlers() noexcept;

}  // namespace pinwire
