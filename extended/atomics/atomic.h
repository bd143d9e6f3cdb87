// One operation of an atomic domain, counted on an Op: by this CPU, by the NIC, or by a message
// that the target's CPU carries out (GX-157, GX-163).
//
// The three are atomic with each other, so that each operation goes the fastest way there is,
// whatever the rest of its domain does: this CPU and the target's handler use the same lock-free
// operations of core/api/pinwire_atomic.h on the same memory, and of a driver's atomics only those
// are used that meet the CPU's (Caps::atomics_meet_cpu). NICs whose atomics meet none but their own
// do all of a domain or nothing (AtomicWay::kNic): each rank's memory belongs to one of them, which
// does its owner's and its neighbours' operations, too.
#pragma once

#include "am/message/patience.h"
#include "core/engine/target.h"
#include "extended/atomics/call.h"
#include "extended/atomics/domain.h"
#include "extended/rma/ops.h"

namespace pinwire {

/// Starts an operation; `op.started` grows by one unless it is done when this returns. `result`:
/// where the old value goes, nullptr of an operation that returns none. Client context. False:
/// there was no room, and `patience` does not wait.
bool start_atomic(pinwire_ad& domain, Target to, void* address, const AtomicCall& call,
                  void* result, pinwire_op& op, Patience patience) noexcept;

void register_atomic_handlers() noexcept;

}  // namespace pinwire
