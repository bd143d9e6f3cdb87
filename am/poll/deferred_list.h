// The list behind deferred.h. Any thread, and any signal handler, adds to it; one thread at a time
// works it off.
//
// Memory order: add() exchanges `is_listed` with release and run_all() with acquire, also where the
// item is on the list already: the run sees what was recorded before the add. The other way round,
// the release of run_all() lets the next add() write `next` again. The CAS(release) of add() ->
// exchange(acquire) in run_all(): the links. end(release) -> begin(acquire): what runs change. A
// template over its memory: tests/models tries every interleaving.
#pragma once

#include <atomic>
#include <cstdint>

namespace pinwire {

template <typename Memory>
class BasicDeferredList {
 public:
  struct Item {
    typename Memory::template Atomic<bool> is_listed{};
    typename Memory::template Plain<uintptr_t> next{};  ///< while listed
  };

  bool is_empty() const noexcept { return first_.load(std::memory_order_relaxed) == 0; }

  /// The item is run after this, at least once.
  void add(Item& item) noexcept {
    if (item.is_listed.exchange(true, std::memory_order_acq_rel)) return;
    const auto self = reinterpret_cast<uintptr_t>(&item);
    uintptr_t first = first_.load(std::memory_order_relaxed);
    do {
      item.next = first;
    } while (!first_.compare_exchange_weak(first, self, std::memory_order_release));
  }

  /// False: another thread, or a caller of this one, is at it.
  bool begin() noexcept {
    return !is_running_.load(std::memory_order_relaxed) &&
           !is_running_.exchange(true, std::memory_order_acquire);
  }
  /// Inside a run: exact. Elsewhere it tells of a moment ago.
  bool is_running() const noexcept { return is_running_.load(std::memory_order_relaxed); }
  void end() noexcept { is_running_.store(false, std::memory_order_release); }

  /// Between begin() and end(). Calls `run(item)` for all that are listed now; what is listed
  /// meanwhile is for the next time.
  template <typename Run>
  void run_all(Run&& run) noexcept {
    uintptr_t at = first_.exchange(0, std::memory_order_acquire);
    while (at != 0) {
      Item& item = *reinterpret_cast<Item*>(at);
      at = item.next;
      // From here on it may be listed again, and `next` be another.
      item.is_listed.exchange(false, std::memory_order_acq_rel);
      run(item);
    }
  }

 private:
  typename Memory::template Atomic<uintptr_t> first_{};
  typename Memory::template Atomic<bool> is_running_{};
};

}  // namespace pinwire
