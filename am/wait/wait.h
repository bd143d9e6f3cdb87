// Waiting: polls until something is there, and what a thread does between empty ones.
#pragma once

#include <atomic>
#include <cstdint>

#include "am/poll/poll.h"
#include "core/engine/engine.h"

namespace pinwire {

enum class WaitMode : int { kSpin = 0, kBlock = 1, kSpinBlock = 2 };
/// gasnet_set_waitmode (3.6.2), at any time, by any thread.
void set_wait_mode(WaitMode mode) noexcept;

/// poll() for a client that may wait by polls of its own. Where threads outnumber the cores, one
/// that keeps finding nothing gives its core away: to the thread that it waits for, or to the one
/// that lost its core while it held a lane.
void poll_for_client() noexcept;

/// The event that ends a wait; it decides how the wait may be spent.
enum class Wait : uint8_t {
  kAnnounced,    ///< handlers, completions: sleep until they wake it
  kOfClient,     ///< handlers, and what else the client waits for: naps (am/wait/sleep.h)
  kUnannounced,  ///< a peer that makes room, without a word: no more than naps
  kAwake,        ///< in a handler, which holds a lane; the dispatcher's own
};

/// A waiting thread calls this every so often: it looks after the drivers' health, and gives its
/// core away.
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

}  // namespace pinwire
