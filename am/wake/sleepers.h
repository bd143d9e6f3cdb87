// Threads that sleep in waits, and how what happens elsewhere wakes them; am/wait/sleep.h has the
// sleep itself.
#pragma once

#include <atomic>
#include <cstdint>

#include "am/wake/doorbell.h"
#include "core/base/counter.h"
#include "core/interrupts/client_threads.h"
#include "driver/driver.h"

namespace pinwire {

/// Some thread sleeps, or has: what happens is counted. It stays set.
inline constinit std::atomic<bool> waits_may_sleep{false};
/// As the wait mode is now.
inline constinit std::atomic<bool> waits_sleep{false};

/// For set_wait_mode().
void let_waits_sleep(bool sleep) noexcept;

/// Wakes the threads that sleep until something happens.
[[gnu::cold]] void ring_sleepers() noexcept;
/// After handlers ran, or completions or resources were given back, that a wait of another thread
/// may be for. In signal context too.
inline void note_progress() noexcept {
  if (waits_may_sleep.load(std::memory_order_relaxed)) [[unlikely]]
    ring_sleepers();
}

/// Wakes all of them to look for themselves: something waits on a lane that the caller has armed,
/// or will not poll.
void call_sleepers() noexcept;

/// Tells the counters of waits, by name.
void report_waits(StatSink& sink) noexcept;

// For am/wait/sleep.cc alone, with the counters below.

using Doorbell = BasicDoorbell<ThreadMemory>;
/// It has the seats of the threads that sleep, and counts what has happened.
inline constinit Doorbell sleepers_bell;
/// An eventfd that ring_seats() makes readable; -1: there is no seat, or no fd for it.
int open_bell(uint32_t seat) noexcept;
/// Wakes the threads of these seats, a bit for each.
void ring_seats(uint32_t seats) noexcept;

struct WaitCounters {
  SharedCounter sleeps, naps, rings, overslept;
};
inline constinit WaitCounters wait_counters;

}  // namespace pinwire
