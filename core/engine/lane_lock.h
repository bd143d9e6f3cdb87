// The lock of a lane. A thread that has a lane to itself takes it without a locked instruction; the
// others, who look after it only while that thread does not, pay for both.
//
// The owner says that it is inside by a plain store, and then looks whether the lane is still its
// own. Another thread that wants the lane takes the word that all take in turn, writes down that it
// is nobody's, and has the owner pass a barrier (membarrier(2)): either it then sees that the owner
// is inside, and goes, or the owner sees what it wrote, and takes turns as the others do. With its
// first turn the lane is its own again.
//
// A lane whose owner keeps polling therefore costs it no locked instruction, and one whose owner
// computes costs the others one barrier.
//
// Where the client calls from one thread at a time (SEQ, PARSYNC) that thread is the owner of every
// lane, and the only other thread is the heartbeat's (am/interrupts/heartbeat.h).
//
// A template over its memory: tests/models tries every interleaving.
//
// Memory order: inside.store(release) in unlock_as_owner() -> inside.load(acquire) in call_in()
//               taken.store(release) in unlock()           -> taken.exchange(acquire)
#pragma once

#include <atomic>
#include <cstdint>

namespace pinwire {

template <typename Memory>
class BasicLaneLock {
 public:
  /// For any thread but the owner; for all threads, where there is none.
  bool try_lock() noexcept {
    if (!take_turn()) return false;
    if (is_owned_.load(std::memory_order_relaxed) == 0 || call_in()) return true;
    unlock();
    return false;
  }
  void unlock() noexcept { taken_.store(0, std::memory_order_release); }

  /// Owner thread only. Returns false in the owner's signal handler if the owner is inside.
  bool try_lock_as_owner() noexcept {
    if (inside_.load(std::memory_order_relaxed) != 0) return false;
    inside_.store(1, std::memory_order_relaxed);
    // In this order: pairs with the barrier in call_in().
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (is_owned_.load(std::memory_order_relaxed) != 0 || come_back()) [[likely]]
      return true;
    unlock_as_owner();
    return false;
  }
  void unlock_as_owner() noexcept { inside_.store(0, std::memory_order_release); }

  /// A moment ago.
  bool is_owned() const noexcept { return is_owned_.load(std::memory_order_relaxed) != 0; }
  /// True inside the lock. Outside it tells of a moment ago, and of whichever thread.
  bool is_held() const noexcept {
    return inside_.load(std::memory_order_relaxed) != 0 ||
           taken_.load(std::memory_order_relaxed) != 0;
  }

 private:
  bool take_turn() noexcept {
    return taken_.load(std::memory_order_relaxed) == 0 &&
           taken_.exchange(1, std::memory_order_acquire) == 0;
  }

  /// With its turn, by another than the owner. False: the owner is inside, or may be.
  bool call_in() noexcept {
    is_owned_.store(0, std::memory_order_relaxed);
    if (Memory::pass_barrier(&inside_) && inside_.load(std::memory_order_acquire) == 0) return true;
    is_owned_.store(1, std::memory_order_relaxed);
    return false;
  }

  /// By the owner, inside. False: it is another's turn.
  [[gnu::noinline]] bool come_back() noexcept {
    if (!take_turn()) return false;
    is_owned_.store(1, std::memory_order_relaxed);
    unlock();  // who calls it in from now on finds the owner inside
    return true;
  }

  typename Memory::template Atomic<uint32_t> inside_{};    ///< the owner is; by it alone
  typename Memory::template Atomic<uint32_t> is_owned_{};  ///< changed by whose turn it is
  typename Memory::template Atomic<uint32_t> taken_{};     ///< it is somebody's turn
};

}  // namespace pinwire
