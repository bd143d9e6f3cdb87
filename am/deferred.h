// What handlers leave to client threads, as they may neither send requests nor wait themselves: a
// list that any context adds to, and that polls of client threads work off, one at a time.
#pragma once

#include <atomic>
#include <cstdint>

#include "am/deferred_list.h"

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

/// Client context, not inside a run: no thread is at what was deferred while one of these lives. A
/// thread that listed a work may run it at any later time, also when nothing is left to do for it,
/// so what a run reads is changed under one of these.
class DeferredPause {
 public:
  /// Polls until the thread that is at it has ended its turn.
  DeferredPause() noexcept;
  ~DeferredPause();
  DeferredPause(const DeferredPause&) = delete;
  DeferredPause& operator=(const DeferredPause&) = delete;
};

}  // namespace pinwire
