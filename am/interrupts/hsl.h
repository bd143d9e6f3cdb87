// Handler-safe locks (2.4.4). Handlers run inside GASNet calls, so in SEQ and PARSYNC nobody else
// can want a lock that this thread holds; in PAR, and beside a thread of the library, other threads
// run handlers, so it is a real one: a futex, taken by one locked operation and given back by a
// plain store. 0: free, 1: held, 2: held and someone sleeps, perhaps.
#pragma once

#include <atomic>
#include <cstdint>

#include "am/interrupts/interrupts.h"
#include "core/base/check.h"
#include "core/exact_mode.h"

namespace pinwire {

/// The parts of the three calls below.
namespace hsl {

constexpr uint32_t kFree = 0, kHeld = 1, kSleptFor = 2;

void wait_and_take(uint32_t& word) noexcept;
void wake_one(uint32_t& word) noexcept;

// Debug builds: the locks that a thread holds, in the order of locking (C1-287, C1-288).
void check_not_held(const uint32_t& word, const char* call) noexcept;
void note_locked(const uint32_t& word) noexcept;
void note_unlocked(const uint32_t& word) noexcept;

/// Another thread may want a lock that this one holds. In SEQ that is one of the library that runs
/// handlers (C1-197), which every dispatcher does but one whose signals do it anywhere.
inline bool is_contended() noexcept {
  if constexpr (kThreadMode == ThreadMode::kSeq) return has_dispatcher && !interrupts_anywhere;
  return is_concurrent();
}

// acquire pairs with the release in hsl_unlock()
inline bool take(uint32_t& word) noexcept {
  if (!is_contended()) {
    if (word != kFree) return false;
    word = kHeld;
    return true;
  }
  uint32_t free = kFree;
  return std::atomic_ref(word).compare_exchange_strong(free, kHeld, std::memory_order_acquire,
                                                       std::memory_order_relaxed);
}

}  // namespace hsl

inline bool hsl_try_lock(uint32_t& word) noexcept {
  if constexpr (kUsageChecks) hsl::check_not_held(word, "gasnet_hsl_trylock");
  if (!hsl::take(word)) return false;
  if constexpr (kUsageChecks) hsl::note_locked(word);
  return true;
}

inline void hsl_lock(uint32_t& word) noexcept {
  if constexpr (kUsageChecks) hsl::check_not_held(word, "gasnet_hsl_lock");
  if (!hsl::take(word)) [[unlikely]]
    hsl::wait_and_take(word);
  if constexpr (kUsageChecks) hsl::note_locked(word);
}

// No locked operation: another thread may set kSleptFor between the load and the store, which
// overwrites it. That thread finds the lock free before it does sleep, unless this thread loses its
// core just there; then only the end of its sleep wakes it.
inline void hsl_unlock(uint32_t& word) noexcept {
  if constexpr (kUsageChecks) hsl::note_unlocked(word);
  const std::atomic_ref shared(word);
  const uint32_t before = shared.load(std::memory_order_relaxed);
  check(before != hsl::kFree, "gasnet_hsl_unlock of an HSL that is not locked (C1-194)");
  shared.store(hsl::kFree, std::memory_order_release);
  if (before == hsl::kSleptFor) [[unlikely]]
    hsl::wake_one(word);
}

}  // namespace pinwire
