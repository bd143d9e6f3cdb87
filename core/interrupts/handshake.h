// The handshake by which a client thread, and whoever finds that messages have arrived for it,
// agree on when their handlers run: von Eicken's, as the GASNet paper extends it to threads (3.2,
// PA-023 to PA-036).
//
// One word for each client thread. It says why the thread must not be interrupted: it is inside the
// library (and so, too, while it runs a handler), holds handler-safe locks, or asked for it. None
// of them: a signal runs the handlers there and then. Any: `arrived` stays behind, and the thread
// drains when its last reason ends. All are bits of one word, so that "no reason is left" and
// "nothing has arrived" are seen at one moment: that is why no arrival is lost (PA-031, PA-032).
//
// Only the thread itself, its signal handler included, changes its reasons; any thread sets
// `arrived`. A template over its memory: tests/models tries every interleaving.
//
// Memory order: fetch_or(release) in arrive() -> fetch_and(acquire) in enable(): the message first.
#pragma once

#include <atomic>
#include <cstdint>

namespace pinwire {

/// Why a thread must not be interrupted; what it adds to the thread's word.
enum class Reason : uint32_t {
  kSection = 1u << 1,   ///< gasnet_hold_interrupts: does not nest
  kLock = 1u << 8,      ///< for each handler-safe lock that it holds: at most 255
  kLibrary = 1u << 16,  ///< for each library call that it is inside of, and its signal handler
};

enum class Arrival : uint8_t {
  kSignal,     ///< the thread may be interrupted: signal it
  kSignalled,  ///< somebody is about to, or has, and it has not drained yet
  kLater,      ///< it drains when its last reason ends
};

template <typename Memory>
class BasicHandshake {
 public:
  /// One atomic operation on a cached word (PA-024).
  void disable(Reason reason) noexcept {
    word_.fetch_add(static_cast<uint32_t>(reason), std::memory_order_acquire);
  }

  /// Ends one reason. If it is the last one and something has arrived: `drain()` first, which takes
  /// all that was there when it began; while it runs, the reason holds.
  template <typename Drain>
  void enable(Reason reason, Drain&& drain) noexcept {
    const auto one = static_cast<uint32_t>(reason);
    uint32_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      if (word == (one | kArrived)) [[unlikely]] {
        // Before the drain: what arrives while it runs is for the next turn.
        word_.fetch_and(~kArrived, std::memory_order_acquire);
        drain();
        word = one;
      } else if (word_.compare_exchange_weak(word, word - one, std::memory_order_release)) {
        return;
      }
    }
  }

  /// After a message has been published; by any thread.
  Arrival arrive() noexcept {
    const uint32_t before = word_.fetch_or(kArrived, std::memory_order_release);
    if ((before & ~kArrived) != 0) return Arrival::kLater;
    return before == 0 ? Arrival::kSignal : Arrival::kSignalled;
  }

  /// In the thread's signal handler, while the signal is blocked. Where there is another reason
  /// nothing happens (`arrived` stays set), nor where the thread has drained in the meantime.
  template <typename Drain>
  void on_signal(Drain&& drain) noexcept {
    disable(Reason::kLibrary);
    enable(Reason::kLibrary, drain);
  }

  /// Of the own thread: exact. Of another: a moment ago.
  bool holds_locks() const noexcept {
    return (word_.load(std::memory_order_relaxed) & kLocks) != 0;
  }

 private:
  static constexpr uint32_t kArrived = 1;
  static constexpr uint32_t kLocks = 0xff * static_cast<uint32_t>(Reason::kLock);

  typename Memory::template Atomic<uint32_t> word_{};
};

struct Asked {
  bool is_signalled = false;  ///< one of them, now
  uint32_t held_off = 0;      ///< of those that were asked
};

/// Has one of `threads` run the handlers of what has arrived: the first that may be interrupted,
/// by `signal(thread)`. If none may, each will when it may again, and the first of them does.
///
/// One that was signalled is waited for. If that has been in vain, `asks_another`, it is passed
/// over: perhaps it blocks its signals. So it is from then on, `is_slow`, until it has drained;
/// that is a note of the caller's, who is one at a time.
template <typename Threads, typename Signal>
Asked notify_one(Threads&& threads, bool asks_another, Signal&& signal) noexcept {
  Asked asked;
  for (auto& thread : threads) {
    switch (thread.handshake.arrive()) {
      case Arrival::kSignal:
        thread.is_slow = false;
        signal(thread);
        asked.is_signalled = true;
        return asked;
      case Arrival::kSignalled:
        thread.is_slow = thread.is_slow || asks_another;
        if (!thread.is_slow) return asked;
        break;
      case Arrival::kLater:
        ++asked.held_off;
        break;
    }
  }
  return asked;
}

}  // namespace pinwire
