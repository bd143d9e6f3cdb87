// The work that handlers leave to client threads, as handlers may neither send requests nor wait: a
// list that any context adds to, and that polls of client threads work off, one at a time.
#pragma once

#include <atomic>
#include <cstdint>

#include "am/poll/deferred_list.h"

namespace pinwire {

struct DeferredMemory {
  template <typename T>
  using Atomic = std::atomic<T>;
  template <typename T>
  using Plain = T;
};
using DeferredList = BasicDeferredList<DeferredMemory>;

/// Something with work to do, now and then. It lives as long as the process: a thread that has put
/// it on the list may still hold it when its work is long done.
struct Deferred : DeferredList::Item {
  /// Client context; sends, and so polls, but is not called again meanwhile. Returns how much was
  /// done.
  uint32_t (*run)(Deferred& work) noexcept = nullptr;
};

/// How much of what is deferred wants room, of which no driver tells: threads that sleep look again
/// soon (am/wait/sleep.h).
inline constinit std::atomic<uint32_t> deferred_without_room = 0;

/// Whether one work counts there. It begins as zeros.
class DeferredRoom {
 public:
  /// The run has found room, or none. Inside runs alone.
  void has(bool room) noexcept {
    if (room != is_wanted_) return;
    is_wanted_ = !room;
    deferred_without_room.fetch_add(room ? ~0u : 1u, std::memory_order_relaxed);
  }

 private:
  bool is_wanted_ = false;
};

/// Each poll looks whether it is empty: one load.
inline constinit DeferredList deferred_list;

/// `work.run` is called after this, at least once. Any context.
inline void defer(Deferred& work) noexcept { deferred_list.add(work); }

/// Client context. Nothing while another thread, or a caller of this one, is at it. Returns how
/// much was done.
uint32_t run_deferred() noexcept;

/// Client context: this work alone at once, or, where that may not be, soon. Returns how much was
/// done.
uint32_t run_or_defer(Deferred& work) noexcept;

}  // namespace pinwire
