// Starting what is synchronised by an explicit handle, or an event.
#pragma once

#include "am/progress.h"
#include "extended/sync.h"

namespace pinwire {

inline void wait_here(pinwire_op& op) noexcept {
  wait_until([&op] { return op.finished(); });
}

/// Starts with `start(op)` on a fresh handle; with all handles in flight, completes at once
/// instead.
template <typename Start>
pinwire_op* start_explicit(Start&& start) noexcept {
  pinwire_op* op = take_op();
  if (op == nullptr) {
    pinwire_op here{};
    start(here);
    wait_here(here);
    return nullptr;
  }
  start(*op);
  return handle_of(op);
}

}  // namespace pinwire
