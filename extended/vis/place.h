// Where a piece of a transfer is in this process. The call was checked when it began
// (extended/checks/usage.h), so debug builds look only at the piece: whether it is in the segment,
// and overlaps its other end.
#pragma once

#include "core/api_types.h"
#include "extended/checks/ranges.h"

namespace pinwire::vis {

/// Our address of `bytes` bytes at `remote`, or nullptr when they go through a driver.
inline void* place_of_piece(const char* piece, Target node, const void* remote, const void* local,
                            size_t bytes) noexcept {
#ifdef GASNET_DEBUG
  return checked_place(piece, node, remote, local, bytes);
#else
  (void)piece;
  return pinwire_direct(node, remote, local, bytes);
#endif
}

}  // namespace pinwire::vis
