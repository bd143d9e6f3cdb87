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
#include "core/engine/engine.h"
#include "pin/demand.h"

namespace pinwire {

/// Below this, copying is as cheap as pinning, which is a system call and a walk over the pages.
inline constexpr uint64_t kAloneBytesMin = 256 << 10;

/// Whether pinning pays for a transfer by a driver that does not know this rank's memory yet.
/// Device memory is not pinned.
inline bool pays_to_pin(const Route& route, uint64_t bytes) noexcept {
  return bytes >= kAloneBytesMin && demands[route.driver_index] != nullptr &&
         route.reach != Reach::kDevice;
}

/// Start a put or get; each returns how often `done` will be counted up. `is_copied`: the source is
/// free on return, and small enough for that (Caps::copies). Client context; waits for room, and
/// for what the peer says of its memory. With Patience::kTries it asks for that, but goes by
/// messages meanwhile; 0: the first piece found no room.
uint32_t put_on_demand(Target to, uint64_t dest, const void* source, size_t bytes, bool is_copied,
                       DoneCount& done, Patience patience = Patience::kWaits) noexcept;
uint32_t get_on_demand(Target from, uint64_t source, void* dest, size_t bytes, DoneCount& done,
                       Patience patience = Patience::kWaits) noexcept;

/// A Long to memory that no one key covers, as request_long() and reply_long(). False: a no-op.
bool long_on_demand(const pinwire_token* token, Target to, const AmCall& call, const void* source,
                    size_t bytes, void* dest, bool is_async) noexcept;

}  // namespace pinwire
