#include "extended/hsl.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "core/base/bits.h"
#include "core/base/check.h"
#include "core/base/log.h"
#include "core/engine/lane.h"
#include "core/mode.h"

namespace pinwire {
namespace {

constexpr int kSpinsBeforeSleep = 100;

void sleep_while(uint32_t& word, uint32_t value) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}
void wake_one(uint32_t& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

/// The locks that a thread holds, in the order of locking; debug builds only.
constexpr uint32_t kHeldMax = 255;  // as ThreadState counts them
thread_local constinit const uint32_t* held[kHeldMax] = {};

void check_not_held(const uint32_t& word, const char* call) noexcept {
  if constexpr (kUsageChecks) {
    for (uint32_t i = 0; i < this_thread.hsls_held; ++i) {
      if (held[i] == &word) fatal("%s of an HSL that this thread already holds", call);
    }
  }
}
void note_locked(const uint32_t& word) noexcept {
  if constexpr (kUsageChecks) {
    if (this_thread.hsls_held == kHeldMax) fatal("a thread holds more than %u HSLs", kHeldMax);
    held[this_thread.hsls_held++] = &word;
  }
}
void note_unlocked(const uint32_t& word) noexcept {
  if constexpr (kUsageChecks) {
    const uint32_t count = this_thread.hsls_held;
    if (count != 0 && held[count - 1] == &word) {
      this_thread.hsls_held = static_cast<uint8_t>(count - 1);
      return;
    }
    for (uint32_t i = 0; i < count; ++i) {
      if (held[i] == &word) {
        fatal(
            "gasnet_hsl_unlock of an HSL before one that was locked later: unlock in the reverse "
            "order");
      }
    }
    fatal("gasnet_hsl_unlock of an HSL that this thread does not hold");
  }
}

// acquire pairs with the release in hsl_unlock()
bool take(uint32_t& word) noexcept {
  if (!is_concurrent()) {
    if (word != 0) return false;
    word = 1;
    return true;
  }
  uint32_t free = 0;
  return std::atomic_ref(word).compare_exchange_strong(free, 1, std::memory_order_acquire,
                                                       std::memory_order_relaxed);
}

void wait_and_take(uint32_t& word) noexcept {
  if (!is_concurrent()) {
    check(word == 0, "gasnet_hsl_lock of an HSL that this thread already holds (C1-202)");
    word = 1;
    return;
  }
  for (int spin = 0; spin < kSpinsBeforeSleep; ++spin) {
    if (take(word)) return;
    cpu_relax();
  }
  while (std::atomic_ref(word).exchange(2, std::memory_order_acquire) != 0) sleep_while(word, 2);
}

}  // namespace

bool hsl_try_lock(uint32_t& word) noexcept {
  check_not_held(word, "gasnet_hsl_trylock");
  if (!take(word)) return false;
  note_locked(word);
  return true;
}

void hsl_lock(uint32_t& word) noexcept {
  check_not_held(word, "gasnet_hsl_lock");
  wait_and_take(word);
  note_locked(word);
}

void hsl_unlock(uint32_t& word) noexcept {
  note_unlocked(word);
  check(std::atomic_ref(word).load(std::memory_order_relaxed) != 0,
        "gasnet_hsl_unlock of an HSL that is not locked (C1-194)");
  if (!is_concurrent()) {
    word = 0;
    return;
  }
  if (std::atomic_ref(word).exchange(0, std::memory_order_release) == 2) wake_one(word);
}

}  // namespace pinwire
