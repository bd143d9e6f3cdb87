// A lane: one queue set of a driver, with the lock that serialises it in PAR; and what the library
// knows of the threads that use them.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "core/base/bits.h"
#include "core/base/check.h"
#include "core/engine/lane_lock.h"
#include "core/interrupts/client_threads.h"
#include "core/mode.h"

namespace pinwire {

inline constexpr uint32_t kLanesMax = 16;
inline constexpr uint32_t kDriversMax = 4;

/// The state of a client thread. One word of each is on the path of every call.
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
  uint32_t seen = 0;              ///< of the doorbell (am/wake/doorbell.h), at the last look
  uint32_t nap_us = 0;            ///< the next (am/wait/sleep.h)
};
inline constinit thread_local ThreadState this_thread;

struct OwedReplies;

struct alignas(kCacheLineBytes) DriverLane {
  /// The thread that it belongs to, which takes it without a locked instruction; nullptr: none. A
  /// thread that begins where one has ended inherits what was at its address.
  std::atomic<const ThreadState*> owner{nullptr};
  BasicLaneLock<ThreadMemory> word;
  /// Signalled work that the driver has accepted and not yet reported; under the lock.
  uint32_t pending = 0;
  /// Replies that handlers left to it (am/poll/owed.h); written under the lock.
  std::atomic<uint32_t> owed_count{0};
  OwedReplies* owed = nullptr;  ///< under the lock; stays once it is there
  /// Times that the owner has been inside. By it alone; others see so whether it still comes.
  std::atomic<uint32_t> owner_turns{0};
  std::atomic<uint32_t> turns_seen{0};  ///< by another, which has looked `looks` times since
  std::atomic<uint32_t> looks{0};
  std::atomic<uint32_t> waiting{0};        ///< threads in lock() that found it held
  std::atomic<uint64_t> left_until_ns{0};  ///< by pollers, to those

  bool is_mine() const noexcept { return owner.load(std::memory_order_relaxed) == &this_thread; }
  /// For assertions: by the calling thread, if the code is right; by any thread, as far as this
  /// tells.
  bool is_held() const noexcept { return word.is_held(); }

  // Without concurrency the client's one thread owns the lane: the word tells a signal handler that
  // calls gasnet_exit whether it interrupted the use of this lane, and keeps the heartbeat out.
  bool try_lock() noexcept {
    if (!is_concurrent()) return word.try_lock_as_owner();
    if constexpr (kConcurrent) {
      if (is_mine()) return word.try_lock_as_owner();
    }
    return word.try_lock();
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
  void unlock() noexcept {
    if constexpr (kChecks) dcheck(is_held(), "a lane is unlocked that nobody holds", pending);
    if (!is_concurrent()) return unlock_as_owner();
    if constexpr (kConcurrent) {
      if (is_mine()) return unlock_as_owner();
    }
    word.unlock();
  }

  /// The heartbeat takes the lane so, which owns none: it gets a lane that nobody is inside of, in
  /// every mode.
  bool try_lock_beside() noexcept { return word.try_lock(); }
  void unlock_beside() noexcept {
    if constexpr (kChecks) dcheck(is_held(), "a lane is unlocked that nobody holds", pending);
    word.unlock();
  }

  /// For a thread that polls in turn the lanes of all, and has seen that there is something:
  /// whether it is left to the owner, which comes often enough. To take it away costs both.
  bool is_left_to_owner() noexcept {
    if (!word.is_owned() || is_mine()) [[likely]]
      return false;
    const uint32_t turns = owner_turns.load(std::memory_order_relaxed);
    if (turns != turns_seen.load(std::memory_order_relaxed)) {
      turns_seen.store(turns, std::memory_order_relaxed);
      looks.store(0, std::memory_order_relaxed);
      return true;
    }
    const uint32_t looked = looks.load(std::memory_order_relaxed) + 1;
    looks.store(looked, std::memory_order_relaxed);
    return looked < kLooksMax;
  }

  /// A poller leaves the lane for a moment only between two turns of handlers, in which a thread
  /// that waits in lock() may have no core. A poller that does nothing else therefore leaves the
  /// lane to it after a turn for as long as the turn took; for kLeftNs where the turn was not
  /// measured, since the wait began in its midst. No wait depends on these hints.
  bool is_waited_for() const noexcept { return waiting.load(std::memory_order_relaxed) != 0; }
  bool is_left_to_waiting(uint64_t now_ns) const noexcept {
    return is_waited_for() && now_ns < left_until_ns.load(std::memory_order_relaxed);
  }
  /// `turn_ns`: 0: not measured.
  void leave_to_waiting(uint64_t turn_ns, uint64_t now_ns) noexcept {
    constexpr uint64_t kLeftNs = 20'000, kLeftNsMin = 2'000, kLeftNsMax = 1'000'000;
    const uint64_t left_ns = turn_ns == 0 ? kLeftNs : std::clamp(turn_ns, kLeftNsMin, kLeftNsMax);
    left_until_ns.store(now_ns + left_ns, std::memory_order_relaxed);
  }

 private:
  static constexpr uint32_t kLooksMax = 16;

  void unlock_as_owner() noexcept {
    owner_turns.store(owner_turns.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    word.unlock_as_owner();
  }

  /// The holder, or the peer whose answer it waits for, may have lost its core to this very thread.
  [[gnu::noinline]] void wait_for_lock(uint32_t spins_before_yield) noexcept {
    constexpr uint32_t kSpinsMax = 1000;
    const uint32_t spins_max = std::min(spins_before_yield, kSpinsMax);
    waiting.fetch_add(1, std::memory_order_relaxed);
    for (uint32_t spins = 0; !try_lock(); ++spins) {
      if (spins >= spins_max) {
        sched_yield();
        spins = 0;
      } else {
        cpu_relax();
      }
    }
    waiting.fetch_sub(1, std::memory_order_relaxed);
  }
};

}  // namespace pinwire
