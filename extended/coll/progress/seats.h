// The seats of this process: which Member has which team, from the team's beginning to its end.
#pragma once

#include <cstdint>

#include "extended/coll/member/member.h"

namespace pinwire {

/// A free place in this process; what comes for it must wait until it is open. Client context.
Member& take_seat() noexcept;
/// From now on messages for it may come. `seats`: of all members, the client of the seat keeps
/// them; nullptr: they are all alike. `lines_from`: for TeamBarrier::open().
void open_seat(Member& member, gex_TM_t tm, const uint32_t* seats, uint64_t lines_from) noexcept;
/// Opens the barrier of a member whose seat was opened before the job had lines. `from`: as for
/// TeamBarrier::open().
void open_team_barrier(Member& member, uint64_t from);
/// Nothing that was called is in progress.
bool is_quiet(const Member& member) noexcept;
/// Waits until no more messages will come. All members call it, with their operations finished.
void close_seat(Member& member) noexcept;
/// The barrier of the open seat; nullptr: there is none, or it is not led.
LedBarrier* led_barrier_of(uint32_t seat) noexcept;

}  // namespace pinwire
