// The barrier of GASNet-EX (GX-144). GASNet-1's, with names, is extended/barrier/barrier.h.
#pragma once

#include "extended/coll/member/member.h"
#include "extended/state/objects.h"

namespace pinwire {

inline void pass_team_barrier(gex_TM_t tm) noexcept { tm->member->line_barrier.pass(); }
inline gex_Event_t start_barrier(gex_TM_t tm) noexcept { return tm->member->line_barrier.start(); }

}  // namespace pinwire
