// A lane: one queue set of a driver, with the lock that serialises it in PAR.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "core/base/bits.h"
#include "core/base/check.h"
#include "core/mode.h"

namespace pinwire {

inline constexpr uint32_t kLanesMax = 16;
inline constexpr uint32_t kDriversMax = 4;

struct alignas(kCacheLineBytes) DriverLane {
  std::atomic<bool> locked{false};
  /// Signalled work that the driver has accepted and not yet reported; under the lock.
  uint32_t pending = 0;

  // acquire here pairs with release in unlock(). Without concurrency the flag still tells a signal
  // handler that calls gasnet_exit whether it interrupted the use of this lane.
  bool try_lock() noexcept {
    if (locked.load(std::memory_order_relaxed)) return false;
    if (is_concurrent()) return !locked.exchange(true, std::memory_order_acquire);
    locked.store(true, std::memory_order_relaxed);
    return true;
  }
  /// Spins `spins_before_yield` times between two yields, read when the lock is held.
  void lock(const std::atomic<uint32_t>& spins_before_yield) noexcept {
    if (!try_lock()) [[unlikely]]
      wait_for_lock(spins_before_yield.load(std::memory_order_relaxed));
  }
  /// For who does not wait for whoever polls here: true unless it is held longer than a post takes.
  bool try_lock_briefly() noexcept {
    constexpr uint32_t kTries = 64;
    for (uint32_t tries = 0; tries < kTries; ++tries) {
      if (try_lock()) return true;
      cpu_relax();
    }
    return false;
  }
  void unlock() noexcept { locked.store(false, std::memory_order_release); }

 private:
  /// The holder, or the peer whose answer it waits for, may have lost its core to this very thread.
  [[gnu::noinline]] void wait_for_lock(uint32_t spins_before_yield) noexcept {
    constexpr uint32_t kSpinsMax = 1000;
    const uint32_t spins_max = std::min(spins_before_yield, kSpinsMax);
    for (uint32_t spins = 0; !try_lock(); ++spins) {
      if (spins >= spins_max) {
        sched_yield();
        spins = 0;
      } else {
        cpu_relax();
      }
    }
  }
};

/// What the library knows of a client thread. One word of each is on the path of every call.
struct ThreadState {
  static constexpr uint32_t kUnassigned = ~0u;
  uint32_t lane = kUnassigned;  ///< its own; on a driver see DriverSlot::lane_of
  uint32_t turn = 0;            ///< rotation over the others
  uint32_t sends_since_poll = 0;
  uint32_t stream_found = 0;  ///< by polls since the last dry spell or message of its own
  uint32_t empty_polls = 0;   ///< in a row
  bool has_sent = false;      ///< since a poll found something
  bool in_handler =
      false;  ///< the lock of the lane that the message came on is held by this thread
  bool holds_interrupts = false;  ///< explicit No-Interrupt Section
  uint8_t hsls_held = 0;          ///< debug builds only
  uint32_t seen = 0;              ///< of the doorbell (am/doorbell.h), at the last look
  uint32_t nap_us = 0;            ///< the next (am/sleep.h)
};
inline constinit thread_local ThreadState this_thread;

}  // namespace pinwire
