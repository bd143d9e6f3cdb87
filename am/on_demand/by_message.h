// Puts, gets and the payloads of Longs to memory that no driver reaches, and of Longs so short that
// their driver rather carries them (Caps::long_in_message_max): messages carry the bytes, and the
// target's CPU moves them (C1-070, C1-304). Always right; else for when nothing better is there.
//
// A put is Mediums whose handlers copy and answer with a Short that counts; a get is a Short for
// each piece, answered by a Medium. A Long carries what one message holds behind its head; what is
// more goes ahead: of a request as a put that is waited for; of a reply, in whose handler nothing
// can be asked for, as replies that the fenced head does not overtake. Replies beyond the one that
// answers are safe, as drivers take in replies whatever the receiver does (C1-154); where they have
// no room for them (Caps::bounded_replies), gasnet_AMMaxLongReply is what one message carries.
//
// Device memory at the target (segment/kinds) is read and written by the vendor's library, called
// from the same handlers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "am/message/call.h"
#include "am/message/done_count.h"
#include "am/message/token.h"
#include "core/engine/target.h"

namespace pinwire {

/// Start a put or get with another rank; each returns how often `done` will be counted up. The
/// source of a put is free on return. Client context; waits for room, or with Patience::kTries
/// returns 0 when the first message finds none.
uint32_t put_by_message(Target to, uint64_t dest, const void* source, size_t bytes, DoneCount& done,
                        Patience patience = Patience::kWaits) noexcept;
uint32_t get_by_message(Target from, uint64_t source, void* dest, size_t bytes, DoneCount& done,
                        Patience patience = Patience::kWaits) noexcept;

/// A Long to another rank; its source is free on return, also that of a LongAsync. `token`: it is
/// the reply to this request. False: one message, which was a no-op.
bool long_by_message(const pinwire_token* token, Target to, const AmCall& call, const void* source,
                     size_t bytes, void* dest, bool is_async) noexcept;

void register_message_carriers() noexcept;

}  // namespace pinwire
