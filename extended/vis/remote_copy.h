// Copies between two ranks, neither of which need be the caller (UPC-009, UPC-044).
//
// The caller sends the source's rank a request with a list of pieces. Its handler leaves the list
// to a client thread of that rank (am/poll/deferred.h), as handlers may not put: that thread puts
// the bytes to the destination, and answers once they are there. Nothing waits in a handler, and
// nothing is allocated: each rank has a few slots for the requests of each other rank, and an
// asker asks for no more than has room there.
#pragma once

#include <cstddef>

#include "core/api_types.h"
#include "core/engine/target.h"
#include "extended/rma/ops.h"

namespace pinwire::vis {

struct CopyPiece {
  void* source;
  void* dest;
  size_t bytes;
};

/// Requests of one rank that are with another at once, and the pieces of each.
inline constexpr uint32_t kCopySlots = 8;
inline constexpr uint32_t kCopyPiecesMax = 16;

/// Starts the copies; `op.started` grows by the completions that they will bring. Pieces that are
/// mapped here at both ends are copied at once. The list is free on return. Client context; waits
/// for a slot.
void start_copies(Target to, Target from, const CopyPiece* pieces, size_t count,
                  pinwire_op& op) noexcept;

/// Reserves the slots and registers the handlers.
void prepare_remote_copies() noexcept;

}  // namespace pinwire::vis
