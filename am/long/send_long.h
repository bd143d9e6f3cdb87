// Long requests and replies (2.3.3, 2.3.4). All return once the source may be reused, but
// LongAsync, and a Long whose end is counted.
//
// With Patience::kTries a call is a no-op when its first message or piece finds no room; what has
// begun is completed, and waits if need be: so do the messages ahead of a Long that takes several,
// to memory that is pinned on demand and not known yet.
#pragma once

#include <cstddef>

#include "am/message/call.h"
#include "am/message/done_count.h"
#include "am/message/token.h"
#include "core/engine/target.h"

namespace pinwire {

/// To a segment that this process knows of. `is_async`: its source is read until the reply.
/// `local`, if any, may count its end; a LongAsync has none.
Sent request_long(Target to, const AmCall& call, const void* source, size_t bytes, void* dest,
                  bool is_async, DoneCount* local = nullptr) noexcept;

bool reply_long(pinwire_token& token, const AmCall& call, const void* source, size_t bytes,
                void* dest) noexcept;

}  // namespace pinwire
