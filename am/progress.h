// Polling and waiting, for everything above.
#pragma once

#include <atomic>
#include <cstdint>

#include "am/dispatch.h"
#include "core/engine/engine.h"

namespace pinwire {

enum class WaitMode : int { kSpin = 0, kBlock = 1, kSpinBlock = 2 };
/// gasnet_set_waitmode (3.6.2), at any time, by any thread.
void set_wait_mode(WaitMode mode) noexcept;

/// One turn: this thread's lane, then one other in rotation. Returns how much was found; 1 when it
/// was nothing but the one-sided work of peers. Client context only.
uint32_t poll() noexcept;

/// poll() for a client that may wait by polls of its own. Where threads outnumber the cores, one
/// that keeps finding nothing gives its core away: to the thread that it waits for, or to the one
/// that lost its core while it held a lane.
void poll_for_client() noexcept;

/// One turn over all lanes of all drivers: what arrived before is handled then, but where another
/// thread has the lane, which is polled again before anyone may sleep (am/dispatcher.h).
uint32_t poll_everything() noexcept;

/// The same for a thread of the library that does nothing else, and would keep lanes from the
/// threads that wait to send there: it leaves each to them for as long as its last turn took.
uint32_t poll_politely() noexcept;

/// In GASNET_DISPATCH=nicproc: client threads wait for it.
inline constinit bool only_dispatcher_polls = false;

/// One turn for a thread that waits inside a handler: replies and completions of the driver's lane
/// that it holds.
uint32_t poll_in_handler(uint32_t driver, uint32_t lane) noexcept;

/// Who ends a wait, and so how it may be spent.
enum class Wait : uint8_t {
  kAnnounced,    ///< handlers, completions: sleep until they wake it
  kOfClient,     ///< handlers, and what else the client waits for: naps (am/sleep.h)
  kUnannounced,  ///< a peer that makes room, without a word: no more than naps
  kAwake,        ///< in a handler, which holds a lane; the dispatcher's own
};

/// What a waiting thread does every so often: looks after the drivers' health, and gives its core
/// away.
void pause_wait(uint32_t empty_polls, Wait wait) noexcept;

/// Set where a dispatcher sleeps over the lanes that clients poll: a client that waits longer than
/// a round trip to a rank that polls has it get up, so that what comes wakes nobody.
using CallOff = void (*)() noexcept;
inline constinit CallOff call_off_dispatcher = nullptr;

/// After an empty poll of a wait: gives the core away as the wait mode and the number of ranks on
/// this host ask for.
inline void after_empty_poll(uint32_t& empty_polls, Wait wait = Wait::kAnnounced) noexcept {
  constexpr uint32_t kPollsPerHealthCheck = 1024, kPollsPerCall = 32;
  ++empty_polls;
  if (empty_polls % kPollsPerCall == 0 && call_off_dispatcher != nullptr) [[unlikely]] {
    if (wait == Wait::kAnnounced || wait == Wait::kOfClient) call_off_dispatcher();
  }
  if (empty_polls % kPollsPerHealthCheck != 0 &&
      empty_polls <= engine.spins_now.load(std::memory_order_relaxed)) [[likely]] {
    return;
  }
  pause_wait(empty_polls, wait);
}

/// Polls until `ready()`.
template <typename Ready>
inline void wait_until(Ready&& ready) noexcept {
  uint32_t empty_polls = 0;
  while (!ready()) {
    if (poll() != 0) {
      empty_polls = 0;
    } else {
      after_empty_poll(empty_polls);
    }
  }
}

/// What a call does while the driver has no room: GEX_FLAG_IMMEDIATE's does nothing at all, neither
/// polls nor waits, and says so (GX-043).
enum class Patience : uint8_t { kWaits, kTries };

/// Offers work from client context, under the lane's lock where the driver wants it.
inline bool offer_from_client(const ThreadState& state, const Route& route, const Work& work,
                              Patience patience = Patience::kWaits) noexcept {
  DriverSlot& slot = engine.drivers[route.driver_index];
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
  if (!offer_from_client(state, route, work)) [[unlikely]]
    offer_until_taken(state, route, work);
  // A thread that only sends must still serve its peers (C1-159); not on every send, so that a
  // driver can put several messages into one frame.
  state.has_sent = true;
  if (++state.sends_since_poll >= kPollBatch) [[unlikely]]
    poll();
}

/// Posts from client context if there is room at once. Who sends so polls for itself (GX-171).
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
