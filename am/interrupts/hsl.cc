#include "am/interrupts/hsl.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/base/bits.h"
#include "core/base/log.h"
#include "core/engine/client_usage.h"
#include "core/engine/lane.h"
#include "core/engine/open_board.h"

namespace pinwire::hsl {
namespace {

constexpr int kSpinsBeforeSleep = 100;
constexpr int kPausesBeforeSleep = 20;  // a store takes less

/// For a millisecond at most (hsl_unlock).
void sleep_while(uint32_t& word, uint32_t value) noexcept {
  constexpr timespec kLimit{.tv_sec = 0, .tv_nsec = 1'000'000};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, &kLimit, nullptr, 0);
}

// Debug builds: the locks that a thread holds are in client_usage, in the order of locking.

/// nullptr: this thread does not hold it.
const HeldLock* held_lock(const uint32_t& word) noexcept {
  for (uint32_t i = 0; i < this_thread.hsls_held; ++i) {
    if (client_usage.locks[i].word == &word) return &client_usage.locks[i];
  }
  return nullptr;
}

}  // namespace

// These are called in debug builds alone; others need not link what they name.

void check_not_held(const uint32_t& word, const char* call) noexcept {
  if constexpr (kUsageChecks) {
    if (const HeldLock* lock = held_lock(word)) {
      breach("C1-287", "%s of an HSL that this thread already holds, locked at %s", call,
             PlaceText(lock->opened.place).text());
    }
  }
}
void note_locked(const uint32_t& word) noexcept {
  if constexpr (kUsageChecks) {
    constexpr uint32_t kMax = ClientUsage::kLocksMax;
    if (this_thread.hsls_held == kMax) fatal("a thread holds more than %u HSLs", kMax);
    const Opened now = Opened::now();
    if (this_thread.hsls_held == 0) board_seat().locks.open(now.since_ns);
    client_usage.locks[this_thread.hsls_held++] = {&word, now};
  }
}
void note_unlocked(const uint32_t& word) noexcept {
  if constexpr (kUsageChecks) {
    const HeldLock* lock = held_lock(word);
    if (lock == nullptr)
      breach("C1-288", "gasnet_hsl_unlock of an HSL that this thread does not hold");
    const HeldLock& last = client_usage.last_lock(this_thread.hsls_held);
    if (lock != &last) {
      breach("C1-288",
             "gasnet_hsl_unlock of an HSL, locked at %s, before one that was locked later, at %s: "
             "unlock in the reverse order",
             PlaceText(lock->opened.place).text(), PlaceText(last.opened.place).text());
    }
    warn_if_long("a handler-safe lock, locked", last.opened);
    if (--this_thread.hsls_held == 0) board_seat().locks.close();
  }
}

void wake_one(uint32_t& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void wait_and_take(uint32_t& word) noexcept {
  check(is_contended(), "gasnet_hsl_lock of an HSL that this thread already holds (C1-202)");
  for (int spin = 0; spin < kSpinsBeforeSleep; ++spin) {
    cpu_relax();
    if (take(word)) return;
  }
  while (std::atomic_ref(word).exchange(kSleptFor, std::memory_order_acquire) != kFree) {
    for (int i = 0; i < kPausesBeforeSleep; ++i) cpu_relax();
    sleep_while(word, kSleptFor);
  }
}

}  // namespace pinwire::hsl
