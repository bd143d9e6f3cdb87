// Every member's contribution to every member: Bruck's algorithm, ceil(log2 N) messages each.
#pragma once

#include "extended/coll/operation/collective.h"

namespace pinwire {

/// Fills `c.dst` by rank. `c.bytes` of each from `c.src`, or of different sizes `c.sizes`, which
/// stay where they are until it is finished.
bool gather_all(Collective& c) noexcept;

}  // namespace pinwire
