// How work reaches a driver: from a client's call, which polls while there is no room, or from a
// handler, which may leave a reply with the lane.
#pragma once

#include <cstdint>

#include "am/message/patience.h"
#include "am/poll/poll.h"
#include "core/engine/engine.h"
#include "driver/work.h"

namespace pinwire {

/// Offers work from client context, under the lane's lock where the driver wants it.
inline bool offer_from_client(const ThreadState& state, const Route& route, const Work& work,
                              Patience patience = Patience::kWaits) noexcept {
  DriverSlot& slot = engine.drivers[route.driver_index];
  dcheck(slot.driver == route.driver, "a route and its index name two drivers", route.driver_index);
  const uint32_t lane = slot.lane_of(state.lane);
  if (slot.caps.concurrent_post && (work.flags & kWorkSilent)) [[likely]] {
    return engine.offer(route.driver_index, lane, work);
  }
  if (patience == Patience::kWaits) {
    slot.lanes[lane].lock(engine.spins_now);
  } else if (!slot.lanes[lane].try_lock_briefly()) {
    return false;
  }
  const bool taken = engine.offer(route.driver_index, lane, work);
  slot.lanes[lane].unlock();
  return taken;
}

/// Polls until the work is taken.
void offer_until_taken(const ThreadState& state, const Route& route, const Work& work) noexcept;

/// Posts from client context; polls while the driver has no room.
inline void post_waiting(const Route& route, const Work& work) noexcept {
  ThreadState& state = engine.thread();
  check(!state.in_handler, "a handler may not send requests, put or get (C1-172)");
  dcheck(work.cls == MessageClass::kRequest, "a client's call sends a reply", work.peer);
  if (!offer_from_client(state, route, work)) [[unlikely]]
    offer_until_taken(state, route, work);
  // A thread that only sends must still serve its peers (C1-159); not on every send, so that a
  // driver can put several messages into one frame.
  state.has_sent = true;
  if (++state.sends_since_poll >= kPollBatch) [[unlikely]]
    poll();
}

/// Posts from client context if there is room at once. The caller polls by itself (GX-171).
inline bool post_at_once(const Route& route, const Work& work) noexcept {
  ThreadState& state = engine.thread();
  check(!state.in_handler, "a handler may not send requests, put or get (C1-172)");
  if (!offer_from_client(state, route, work, Patience::kTries)) return false;
  state.has_sent = true;
  ++state.sends_since_poll;
  return true;
}

/// Either, as the caller has patience. False: not posted.
inline bool post_from_client(const Route& route, const Work& work, Patience patience) noexcept {
  if (patience == Patience::kTries) [[unlikely]]
    return post_at_once(route, work);
  post_waiting(route, work);
  return true;
}

/// Posts from inside a handler, on the driver's lane whose lock this thread holds.
void post_in_handler(uint32_t lane, const Route& route, const Work& work) noexcept;

}  // namespace pinwire
