// Transfers with memory that is pinned on demand: of the peer, in buckets (Reach::kBuckets) or for
// one large transfer alone (Reach::kMessages), or of this rank, in a segment too large to pin or
// outside it. Cut where buckets end; what cannot be pinned is copied, and what the peer cannot pin
// goes by messages.
#pragma once

#include <cstddef>
#include <cstdint>

#include "am/message/call.h"
#include "am/message/done_count.h"
#include "am/message/token.h"
#include "am/path/path.h"
#include "core/engine/target.h"

namespace pinwire {

/// Start a put or get by a path that is kPinned, kBuckets, kVisit or kMessages; each returns how
/// often `done` will be counted up. Client context; waits for room, and for what the peer says of
/// its memory. With Patience::kTries it asks for that, but goes by messages meanwhile; 0: the first
/// piece found no room.
uint32_t put_on_demand(const Path& path, Target to, uint64_t dest, const void* source, size_t bytes,
                       DoneCount& done, Patience patience = Patience::kWaits) noexcept;
uint32_t get_on_demand(const Path& path, Target from, uint64_t source, void* dest, size_t bytes,
                       DoneCount& done, Patience patience = Patience::kWaits) noexcept;

/// A Long by a path that is kBuckets or kVisit, as request_long() and reply_long(). False: a no-op.
bool long_on_demand(const Path& path, const pinwire_token* token, Target to, const AmCall& call,
                    const void* source, size_t bytes, void* dest, bool is_async) noexcept;

}  // namespace pinwire
