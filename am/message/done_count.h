// The count that a wait for completions looks at.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/mode.h"

namespace pinwire {

/// Counts completions. Work carries the address of one as its cookie; the polling thread adds one.
using DoneCount = std::atomic<uint32_t>;
static_assert(sizeof(DoneCount) == 4);

/// release pairs with the acquire load of the thread that waits for the count.
inline void count_done(DoneCount& count) noexcept {
  if (is_concurrent()) {
    count.fetch_add(1, std::memory_order_release);
  } else {
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
}
inline uint64_t cookie_of(DoneCount& count) noexcept { return reinterpret_cast<uint64_t>(&count); }

}  // namespace pinwire
