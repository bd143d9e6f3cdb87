// The handshake by which a client thread, and whoever finds that messages have arrived for it,
// agree on when their handlers run: von Eicken's, as the GASNet paper extends it to threads (3.2,
// PA-023 to PA-036).
//
// Two words for each client thread. One says why the thread must not be interrupted: it is inside
// the library (and so, too, while it runs a handler), holds handler-safe locks, or asked for it.
// None of them: a signal runs the handlers there and then. Any: `arrived`, the other word, stays
// behind, and the thread drains when its last reason ends.
//
// Only the thread itself, its signal handler included, changes its reasons: by plain loads and
// stores. Any thread sets `arrived`, and who is the first to do so pays for both: before it
// believes that there is a reason it has the thread pass a barrier (membarrier(2)). Either it then
// sees that the last reason has ended, or the thread, which ends it first and looks for `arrived`
// then, sees that: no arrival is lost (PA-031, PA-032). Where the kernel passes no barriers the
// thread is signalled in any case: its signal handler sees its reasons as they are, and comes after
// `arrived` was set, so that the thread sees that in the end.
//
// A thread that finds `arrived` set already need do no more. It has not been cleared since, so the
// thread is still to look, or to get its signal, and takes what has been published by then.
//
// A thread that has drained for long goes on with its own work, whatever else is there: peers that
// send faster than it handles would keep it for ever. It clears `arrived` and has the one who finds
// messages look again.
//
// A template over its memory: tests/models tries every interleaving.
//
// Memory order: exchange(release) in arrive() -> exchange(acquire) in enable(): the message first.
// The store in enable() comes before ask_again(), which releases it to who finds messages.
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
  kUnsure,     ///< kLater or kSignal: signal it, and ask another
};

template <typename Memory>
class BasicHandshake {
 public:
  /// Three plain instructions on a cached word (PA-024). A signal handler between them leaves the
  /// reasons as it found them.
  void disable(Reason reason) noexcept { set_reasons(reasons() + static_cast<uint32_t>(reason)); }

  /// Ends one reason. If it is the last one and something has arrived: `drain()` first, which takes
  /// all that is there; while it runs, the reason holds. It returns false where that is more than
  /// the thread should handle at once: the thread goes on, and `ask_again()` has the one who finds
  /// messages look again.
  template <typename Drain, typename AskAgain>
  void enable(Reason reason, Drain&& drain, AskAgain&& ask_again) noexcept {
    const uint32_t before = reasons();
    const uint32_t left = before - static_cast<uint32_t>(reason);
    set_reasons(left);
    // In this order: pairs with the barrier in arrive().
    while (left == 0 && arrived_.load(std::memory_order_relaxed) != 0) [[unlikely]] {
        set_reasons(before);
        // Before the drain: what arrives while it runs is for the next turn.
        arrived_.exchange(0, std::memory_order_acquire);
        const bool has_ended = drain();
        set_reasons(left);
        if (!has_ended) [[unlikely]] {
          // After the reasons: who saw them has left it to this thread to look. It is not looking.
          arrived_.store(0, std::memory_order_relaxed);
          ask_again();
          return;
        }
      }
  }

  /// After a message has been published; by any thread, but one at a time.
  Arrival arrive() noexcept {
    const bool was_there = arrived_.exchange(1, std::memory_order_release) != 0;
    if (reasons() == 0) return was_there ? Arrival::kSignalled : Arrival::kSignal;
    if (was_there) return Arrival::kLater;
    if (!Memory::pass_barrier(&reasons_)) return Arrival::kUnsure;
    return reasons() == 0 ? Arrival::kSignal : Arrival::kLater;
  }

  /// In the thread's signal handler, while the signal is blocked. Where there is another reason
  /// nothing happens (`arrived` stays set), nor where the thread has drained in the meantime.
  template <typename Drain, typename AskAgain>
  void on_signal(Drain&& drain, AskAgain&& ask_again) noexcept {
    disable(Reason::kLibrary);
    enable(Reason::kLibrary, drain, ask_again);
  }

  /// In the thread's signal handler, where the thread may run no handlers as it is: another thread
  /// is to run them, which `give()` tells. The thread that calls arrive() is the one that is told:
  /// it then takes all that was there, and of what it publishes later, arrive() tells again.
  template <typename Give>
  void hand_over(Give&& give) noexcept {
    if (reasons() != 0) return;  // the thread drains when its last reason ends
    // Before give(): of what is published between the two, arrive() must not say kSignalled.
    if (arrived_.exchange(0, std::memory_order_acquire) != 0) give();
  }

  /// Exact for the calling thread; possibly stale for another.
  bool holds_locks() const noexcept { return (reasons() & kLocks) != 0; }

 private:
  static constexpr uint32_t kLocks = 0xff * static_cast<uint32_t>(Reason::kLock);

  uint32_t reasons() const noexcept { return reasons_.load(std::memory_order_relaxed); }
  /// Accesses before and after it stay there, for the eyes of the own signal handler.
  void set_reasons(uint32_t reasons) noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    reasons_.store(reasons, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }

  typename Memory::template Atomic<uint32_t> reasons_{};
  typename Memory::template Atomic<uint32_t> arrived_{};
};

struct Asked {
  bool is_signalled = false;  ///< one of them, now
  uint32_t held_off = 0;      ///< of those that were asked
  bool is_in_vain = false;    ///< all were signalled before, and none has done anything since
};

/// Has one of `threads` run the handlers of what has arrived: the first that may be interrupted,
/// by `signal(thread)`. If none may, each will when it may again, and the first of them does.
///
/// A signalled thread is waited for. If the wait was in vain (`asks_another`), the thread is passed
/// over: perhaps it blocks its signals. From then on it counts as slow (`is_slow`), until it has
/// drained. A thread whose signal could not be sent (`signal` returned false) is marked `is_unsent`
/// and signalled by the next call, because no other code signals it. Only the caller, one thread at
/// a time, writes both marks. The call is in vain where all threads are passed over.
template <typename Threads, typename Signal>
Asked notify_one(Threads&& threads, bool asks_another, Signal&& signal) noexcept {
  Asked asked;
  uint32_t count = 0, slow = 0;
  for (auto& thread : threads) {
    ++count;
    Arrival arrival = thread.handshake.arrive();
    if (thread.is_unsent && arrival == Arrival::kSignalled) arrival = Arrival::kSignal;
    if (thread.is_unsent && arrival == Arrival::kLater) arrival = Arrival::kUnsure;
    if (arrival == Arrival::kSignal || arrival == Arrival::kUnsure) {
      thread.is_unsent = !signal(thread);
      asked.is_signalled = asked.is_signalled || !thread.is_unsent;
    }
    switch (arrival) {
      case Arrival::kSignal:
        thread.is_slow = false;
        if (!thread.is_unsent) return asked;
        break;
      case Arrival::kSignalled:
        thread.is_slow = thread.is_slow || asks_another;
        if (!thread.is_slow) return asked;
        ++slow;
        break;
      case Arrival::kUnsure:
      case Arrival::kLater:
        ++asked.held_off;
        break;
    }
  }
  asked.is_in_vain = count != 0 && slow == count;
  return asked;
}

}  // namespace pinwire
