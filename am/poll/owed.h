// Replies that a lane owes: a handler whose reply has found no room for a while leaves a copy here
// and returns, and later polls send it. A peer that takes no messages, because it computes or is
// stopped, therefore delays only the ranks that wait for it, over any driver; nicfw/lane/lane.h,
// point 7.
//
// The memory for owed replies is bounded, for each peer and in all. A handler whose reply exceeds
// the bound waits for as long as it takes. A peer that computes cannot make the lane owe more than
// the answers to its requests that were under way, and the driver bounds those.
//
// Replies to a peer leave in the order in which handlers sent them, and none overtakes those that
// are owed to the same peer: a fenced one stays behind what it is fenced from (kWorkFenced).
//
// tests/models/worlds/shm_lane_test.cc explores this above the rings of driver/shm (shm.h, points 6
// and 7): handlers that owe, settle while they wait, and reply with several messages.
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
/// As Driver::arm(): a lane that owes is polled again soon, as peers take replies without a word.
inline Armed arm_lane(DriverSlot& slot, uint32_t lane) noexcept {
  const Armed armed = slot.driver->arm(lane);
  return armed == Armed::kArmed && owes(slot.lanes[lane]) ? Armed::kTimed : armed;
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

/// Tells how many replies this process has owed, and how often there was no memory for one.
void report_owed(StatSink& sink) noexcept;

}  // namespace pinwire
