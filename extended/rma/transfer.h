// One put, get or memset through a driver, counted on an Op.
#pragma once

#include <cstddef>

#include "am/message/patience.h"
#include "am/path/path.h"
#include "core/engine/target.h"
#include "extended/rma/ops.h"

namespace pinwire {

/// Asks for the segment of an endpoint that was bound to it after attach, so client context.
bool in_segment_of(Target to, const void* address, size_t bytes) noexcept;

/// The job ends with a sentence if the memory is not in the segment that a `what` ("put") is for
/// (C1-209). The target checks too: this is the sentence for an honest mistake. Client context.
void check_bounds(const char* what, Target to, const void* address, size_t bytes) noexcept;

/// Start a transfer; `op.started` grows by the completions that it will bring. Client context;
/// waits for room. A put that must return with its source free waits for completion unless it is
/// small enough for the driver to copy. Zero bytes and one's own memory finish at once.
///
/// With Patience::kTries nothing is started, and false returned, when the first piece finds no room
/// at once; what has begun is started whole. It goes by one rail; where the peer's memory is pinned
/// on demand, and it is not known that it is, by messages (am/on_demand/on_demand.h); and what has
/// device memory at its end here, is complete at return.
bool start_put(Target to, void* dest, const void* source, size_t bytes, SourceUntil until,
               pinwire_op& op, Patience patience = Patience::kWaits) noexcept;
bool start_get(Target from, const void* source, void* dest, size_t bytes, pinwire_op& op,
               Patience patience = Patience::kWaits) noexcept;
void start_memset(Target to, void* dest, int value, size_t bytes, pinwire_op& op) noexcept;

/// Registers the handlers of memset.
void register_transfer_handlers() noexcept;

}  // namespace pinwire
