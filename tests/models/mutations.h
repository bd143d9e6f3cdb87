// Deliberate faults in one access of the code under exploration.
#pragma once

#include "tests/models/explorer.h"

namespace pinwire::model {

/// `change` is done to each such access to the cell of that name.
inline Mutation change(const char* wanted, Action action, void (*change)(Access&)) {
  return Mutation{[=](Access& access, const std::string& cell) {
    if (cell == wanted && access.action == action) change(access);
  }};
}

inline void tear(Access& access) { access.is_torn = true; }
inline void drop(Access& access) { access.is_dropped = true; }
inline void relax(Access& access) { access.order = std::memory_order_relaxed; }
inline void relax_if_acquire(Access& access) {
  if (access.order == std::memory_order_acquire) relax(access);
}
inline void relax_if_release(Access& access) {
  if (access.order == std::memory_order_release) relax(access);
}

}  // namespace pinwire::model
