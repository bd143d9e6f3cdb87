#include "extended/hsl.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "core/base/bits.h"
#include "core/base/check.h"
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

}  // namespace

// acquire pairs with the release in hsl_unlock()
bool hsl_try_lock(uint32_t& word) noexcept {
  if constexpr (!kConcurrent) {
    if (word != 0) return false;
    word = 1;
    return true;
  }
  uint32_t free = 0;
  return std::atomic_ref(word).compare_exchange_strong(free, 1, std::memory_order_acquire,
                                                       std::memory_order_relaxed);
}

void hsl_lock(uint32_t& word) noexcept {
  if constexpr (!kConcurrent) {
    check(word == 0, "gasnet_hsl_lock of an HSL that this thread already holds (C1-202)");
    word = 1;
    return;
  }
  for (int spin = 0; spin < kSpinsBeforeSleep; ++spin) {
    if (hsl_try_lock(word)) return;
    cpu_relax();
  }
  while (std::atomic_ref(word).exchange(2, std::memory_order_acquire) != 0) sleep_while(word, 2);
}

void hsl_unlock(uint32_t& word) noexcept {
  check(std::atomic_ref(word).load(std::memory_order_relaxed) != 0,
        "gasnet_hsl_unlock of an HSL that is not locked (C1-194)");
  if constexpr (!kConcurrent) {
    word = 0;
    return;
  }
  if (std::atomic_ref(word).exchange(0, std::memory_order_release) == 2) wake_one(word);
}

}  // namespace pinwire
