// Collectives that move data from or to one member, and between all: scripts of operations
// (Collective).
#pragma once

#include "extended/coll/operation/collective.h"

namespace pinwire {

/// The root's `bytes` at `src` to `dst` of all: binomial tree; if large in pieces (pipeline.h).
bool broadcast(Collective& c) noexcept;
/// `bytes` for each member, by rank, from the root's `src` to the `dst` of each; and back.
bool scatter(Collective& c) noexcept;
bool gather(Collective& c) noexcept;
/// `bytes` from each member for each other, by rank (all-to-all): Bruck's algorithm.
bool exchange(Collective& c) noexcept;

}  // namespace pinwire
