// The barrier of GASNet-EX (GX-144): by lines where members share memory, else by dissemination.
// GASNet-1's, with names, is extended/barrier.h.
#pragma once

#include "extended/coll/collective.h"
#include "extended/objects.h"

namespace pinwire {

/// By messages: of nothing but what is around every operation that wants it.
inline Collective& new_message_barrier(gex_TM_t tm) noexcept {
  Collective& c = new_collective(tm, [](Collective&) noexcept { return true; });
  c.syncs_before = true;
  return c;
}

inline void pass_barrier(gex_TM_t tm) noexcept {
  LineBarrier& lines = tm->member->line_barrier;
  lines.is_open() ? lines.pass() : run_collective(new_message_barrier(tm));
}
inline gex_Event_t start_barrier(gex_TM_t tm) noexcept {
  LineBarrier& lines = tm->member->line_barrier;
  return lines.is_open() ? lines.start() : start_collective(new_message_barrier(tm));
}

}  // namespace pinwire
