// Replies that a lane owes: a handler whose reply has found no room for a while leaves a copy here
// and returns, and later polls send it. So a peer that takes nothing, because it computes or is
// stopped, holds up nobody but those who wait for it, over any driver; nicfw/lane.h, point 7.
//
// What a lane owes is bounded, for each peer and in all: beyond that a handler does wait, for as
// long as it takes. A peer that computes cannot make it owe more than the requests that were under
// way, which the driver bounds.
//
// Replies to a peer leave in the order in which handlers sent them, and none overtakes those that
// are owed to the same peer: a fenced one stays behind what it is fenced from (kWorkFenced).
//
// All but owes() is called under the lock of the lane.
#pragma once

#include <cstdint>

#include "core/engine/engine.h"
#include "core/engine/lane.h"
#include "driver/work.h"

namespace pinwire {

/// Whether polls of the lane have something to send. A hint without its lock.
inline bool owes(const DriverLane& lane) noexcept {
  return lane.owed_count.load(std::memory_order_relaxed) != 0;
}
bool owes_to(const DriverLane& lane, Rank peer) noexcept;

/// Some of it no driver has taken yet.
bool owes_unsent(const DriverLane& lane) noexcept;

/// Copies a reply, which the driver copies, too (kWorkCopied, kWorkSilent), or whose end nobody but
/// this waits for (neither): that is sent from the copy, at once if there is room. A lent payload
/// stays lent. False: there is no memory for it.
bool owe_reply(DriverSlot& slot, uint32_t lane, const Work& reply) noexcept;

/// Offers what is owed to some of the peers, in turn.
void settle_owed(DriverSlot& slot, uint32_t lane) noexcept;

/// Of this process: replies that were owed, and how often there was no memory for one.
void report_owed(StatSink& sink) noexcept;

}  // namespace pinwire
