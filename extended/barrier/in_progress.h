// How many operations of a team are in progress. A client destroys a team as soon as it has
// synchronised them all (EX-090), perhaps while the thread that completed the last one is still at
// it. Therefore the count falls before the client learns of the completion, and that thread touches
// nothing of the team once it has reported the last completion.
//
// Memory order: `tell` is a store(release) that the client acquires, so it sees the count that fell
// before, and its changes come after what the thread read of the team. A template over its memory:
// tests/models tries every interleaving.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/check.h"

namespace pinwire {

template <typename Memory>
class BasicInProgress {
 public:
  /// Called by the client's call, before another thread can complete the operation.
  void begin() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  /// Exact for a client that has synchronised all that it called.
  bool is_none() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }

  /// `tell` completes the operation for the client. True: it was the last one, and the team may be
  /// gone.
  template <typename Tell>
  bool end(Tell&& tell) noexcept {
    const uint32_t before = count_.fetch_sub(1, std::memory_order_relaxed);
    dcheck(before != 0, "more operations end than begin");
    tell();
    return before == 1;
  }

 private:
  typename Memory::template Atomic<uint32_t> count_{};
};

}  // namespace pinwire
