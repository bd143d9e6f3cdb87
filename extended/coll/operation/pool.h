// Operations and workspaces that are kept for later calls. Their number is bounded by the
// operations that the open teams can have at work, not by how many were ever under way.
#pragma once

#include "extended/coll/operation/collective.h"

namespace pinwire {

/// Client context, of any thread, as all of these.
Collective& take_operation() noexcept;
/// The operation comes into its member's window.
void take_workspace(Collective& c) noexcept;
/// Finished.
void recycle(Collective& c) noexcept;

/// A team has begun, or has ended with all of its operations.
void widen_pool() noexcept;
void narrow_pool() noexcept;

/// The numbers of objects that are kept now, for tests.
struct PoolCounts {
  uint32_t operations, workspaces;
};
PoolCounts kept_in_pool() noexcept;

}  // namespace pinwire
