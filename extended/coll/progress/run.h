// How a member goes on with its operations: those of the window, in whatever order they can, and
// the barriers of the epochs.
#pragma once

#include <cstdint>

#include "am/poll/deferred.h"

namespace pinwire {

/// Deferred::run of every Member. Returns how many operations are finished.
uint32_t run_member(Deferred& work) noexcept;

}  // namespace pinwire
