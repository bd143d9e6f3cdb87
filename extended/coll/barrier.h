// The barrier of GASNet-EX (GX-144): dissemination. GASNet-1's, with names, is extended/barrier.h.
#pragma once

#include "extended/coll/collective.h"

namespace pinwire {

/// Of nothing but what is around every operation that wants it.
inline Collective& new_barrier(gex_TM_t tm) noexcept {
  Collective& c = new_collective(tm, [](Collective&) noexcept { return true; });
  c.syncs_before = true;
  return c;
}

}  // namespace pinwire
