// The lock of what is known of pinned memory. Taken under a lane's lock or under none, never the
// other way round. Only PAR, and a dispatcher, have threads that could meet.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>

#include "core/base/bits.h"
#include "core/mode.h"

namespace pinwire {

class PinLock {
 public:
  // acquire pairs with the release in unlock()
  void lock() noexcept {
    if (!is_concurrent()) return;
    while (is_held_.exchange(true, std::memory_order_acquire)) [[unlikely]] wait();
  }
  void unlock() noexcept {
    if (is_concurrent()) is_held_.store(false, std::memory_order_release);
  }

 private:
  /// Its holder may be in a system call, or have lost its core to this very thread.
  [[gnu::noinline]] void wait() const noexcept {
    constexpr uint32_t kSpinsMax = 200;
    for (uint32_t spins = 0; is_held_.load(std::memory_order_relaxed); ++spins) {
      if (spins < kSpinsMax) {
        cpu_relax();
      } else {
        sched_yield();
      }
    }
  }
  std::atomic<bool> is_held_{false};
};

}  // namespace pinwire
