// Debug builds: what the threads of a client keep open, where others see it: the thread that looks
// for what is open too long (C1-294). A section that ends is reported at its end (client_usage.h);
// a lock that is never released, or whose thread has ended with it, has none.
//
// A thread has a seat from the first time on that it opens something, until it is found to be gone
// with nothing open. Only it writes there. Where threads outnumber the seats the last go unseen.
//
// Memory order: what is open is said in since_ns, stored (release) before and after file and line
// are: a reader who finds the same since_ns before and after it reads them has those of one
// opening. file.store(release) -> file.load(acquire): the line.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/breach.h"

namespace pinwire {

class BoardLine {
 public:
  void open(int64_t now_ns) noexcept {
    file_.store(nullptr, std::memory_order_relaxed);
    since_ns_.store(now_ns, std::memory_order_release);
  }
  void note_place(const Place& place) noexcept {
    line_.store(place.line, std::memory_order_relaxed);
    file_.store(place.file, std::memory_order_release);
  }
  void close() noexcept {
    since_ns_.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);  // before what comes next is written
  }

  /// By any thread. 0: nothing is open.
  int64_t since_ns() const noexcept { return since_ns_.load(std::memory_order_acquire); }
  /// False: what was open since then has ended.
  bool read(int64_t since_ns, Place& place) const noexcept {
    place.file = file_.load(std::memory_order_acquire);
    place.line = line_.load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    return since_ns_.load(std::memory_order_relaxed) == since_ns;
  }

 private:
  std::atomic<int64_t> since_ns_{0};
  std::atomic<const char*> file_{nullptr};
  std::atomic<int> line_{0};
};

struct BoardSeat {
  std::atomic<int> thread_id{0};  ///< 0: it is free
  BoardLine section;
  BoardLine locks;  ///< the first that the thread took of those that it holds
};

/// The seat of the calling thread; in signal context too. It is one that nobody looks at if there
/// is none left.
BoardSeat& board_seat() noexcept;

/// Warns of what has been open for longer than GASNET_HOLD_LIMIT, of each once. By any thread.
void warn_of_what_is_open() noexcept;

}  // namespace pinwire
