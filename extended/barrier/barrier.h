// The split-phase barrier (3.5), named and anonymous.
//
// Inside one host every rank writes its value and phase to a line that the others read: one
// cache-line transfer. Otherwise extended/barrier/led_barrier.h.
#pragma once

#include <cstdint>

#include "extended/barrier/led_barrier.h"
#include "extended/barrier/value.h"

namespace pinwire {

inline constinit bool barriers_of_ex = false;  ///< which rule

enum class BarrierResult : uint8_t { kOk, kMismatch, kNotReady };

/// After open_barrier_lines(). `find_of_team` returns the open LedBarrier of a team's seat, for
/// messages that name it, or nullptr.
void open_barrier(LedBarrier* (*find_of_team)(uint32_t seat) noexcept);

/// One thread at a time (C1-263). Misuse is fatal (C1-265, C1-267).
void barrier_notify(int id, int flags) noexcept;
BarrierResult barrier_wait(int id, int flags) noexcept;
BarrierResult barrier_try(int id, int flags) noexcept;
/// The name that the last barrier agreed on; false: it was anonymous.
bool barrier_name(int& id) noexcept;

}  // namespace pinwire
