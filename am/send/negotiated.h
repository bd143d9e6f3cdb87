// Mediums whose payload is written where it will be sent from (GX-112): in memory that the driver
// lends (Driver::lend), so that it is not copied. Without it, as when all is out, in memory of the
// caller's, from where it is copied like any other.
#pragma once

#include <cstddef>

#include "am/message/call.h"
#include "am/message/token.h"
#include "core/engine/target.h"

namespace pinwire {

struct Room {
  std::byte* address = nullptr;  ///< 16-byte aligned; nullptr: there is none at once
  size_t bytes = 0;
  Lent lent;  ///< its payload nullptr: it is the caller's own
  uint32_t lane = 0;
};

/// Room for `bytes`, at most one message's, to `to`, or to where `token`'s request came from.
/// `own`: as many bytes for when the driver has none; with Patience::kTries there is no room then,
/// but of drivers that never lend. No lock stays held, and no message waits for what is prepared.
Room room_for_medium(const pinwire_token* token, Target to, size_t bytes, std::byte* own,
                     Patience patience) noexcept;
/// Gives back room whose message will not be sent.
void leave_room(const pinwire_token* token, Target to, const Room& room) noexcept;

/// Sends the first `bytes` of the room. False: nothing was sent (Patience::kTries), and the room is
/// as it was.
bool request_medium_in(Target to, const AmCall& call, const Room& room, size_t bytes) noexcept;
bool reply_medium_in(pinwire_token& token, const AmCall& call, const Room& room,
                     size_t bytes) noexcept;

}  // namespace pinwire
