// Reductions: scripts of operations (Collective). Members' vectors are combined in the order of
// their ranks, or of their places below the root, always in the same groups: the same result in
// every run, and on all members. Large vectors go in pieces (pipeline.h), in other groups.
#pragma once

#include "extended/coll/operation/collective.h"

namespace pinwire {

/// To the root's `dst`: binomial tree.
bool reduce_to_one(Collective& c) noexcept;
/// To all: recursive doubling; of members beyond a power of two each gives its vector to another
/// first, and gets the result from there.
bool reduce_to_all(Collective& c) noexcept;

}  // namespace pinwire
