// Starting what is synchronised by an explicit handle, or an event.
#pragma once

#include "am/message/patience.h"
#include "am/wait/wait.h"
#include "core/api_types.h"
#include "extended/rma/sync.h"

namespace pinwire {

inline void wait_here(pinwire_op& op) noexcept {
  wait_until([&op] { return op.finished(); });
}

inline Patience patience_of(gex_Flags_t flags) noexcept {
  return flags & GEX_FLAG_IMMEDIATE ? Patience::kTries : Patience::kWaits;
}

/// Starts with `start(op)` on a fresh operation, which tells whether it did. Without one left it
/// completes at once instead, or does nothing, as `patience` has it: GEX_EVENT_NO_OP.
template <typename Start>
gex_Event_t start_explicit(Patience patience, Start&& start) noexcept {
  pinwire_op* op = take_op();
  if (op == nullptr) {
    if (patience == Patience::kTries) return GEX_EVENT_NO_OP;
    pinwire_op here{};
    start(here);
    wait_here(here);
    return GEX_EVENT_INVALID;
  }
  const bool has_started = start(*op);
  if constexpr (kChecks) {
    dcheck(has_started || op->finished(), "work is under way that did not start", op->started);
  }
  const gex_Event_t event = handle_of(op);
  return has_started ? event : GEX_EVENT_NO_OP;
}

/// The same for what always starts.
template <typename Start>
gex_Event_t start_explicit(Start&& start) noexcept {
  return start_explicit(Patience::kWaits, [&start](pinwire_op& op) noexcept {
    start(op);
    return true;
  });
}

}  // namespace pinwire
