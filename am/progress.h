// Polling and waiting, for everything above.
#pragma once

#include <atomic>
#include <cstdint>

#include "am/dispatch.h"
#include "core/engine/engine.h"

namespace pinwire {

enum class WaitMode : int { kSpin = 0, kBlock = 1, kSpinBlock = 2 };
inline constinit std::atomic<WaitMode> wait_mode{WaitMode::kSpin};

/// One turn: this thread's lane, then one other in rotation. Returns how much was found. Client
/// context only.
uint32_t poll() noexcept;

/// One turn for a thread that waits inside a handler: replies and completions of the driver's lane that
/// it holds.
uint32_t poll_in_handler(uint32_t driver, uint32_t lane) noexcept;

/// After an empty poll of a wait: gives the core away as the wait mode and the number of ranks on
/// this host ask for.
void after_empty_poll(uint32_t& empty_polls) noexcept;

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

/// Posts from client context; polls while the driver has no room.
void post_waiting(const Route& route, const Work& work) noexcept;

/// Posts from inside a handler, on the driver's lane whose lock this thread holds.
void post_in_handler(uint32_t lane, const Route& route, const Work& work) noexcept;

}  // namespace pinwire
