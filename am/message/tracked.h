// Work that uses memory pinned on demand, or is counted by debug builds: its completion gives the
// memory back. Its cookie has the lowest bit set, which no other cookie has, as all others are
// addresses.
#pragma once

#include <atomic>
#include <cstdint>

#include "driver/work.h"
#include "pin/buckets.h"

namespace pinwire {

/// Memory pinned for one transfer, by its pieces under way; the last gives it back.
struct AlonePin {
  Buckets::Alone pinned{};
  std::atomic<uint32_t> pieces{0};
  uint32_t driver = 0;
  AlonePin* next = nullptr;
};

struct Tracked {
  uint64_t cookie = 0;  ///< of the completion to report, or 0
  uint32_t driver = 0;
  uint32_t remote = ~0u;  ///< of the driver's cache, or ~0
  uint32_t local = ~0u;   ///< own bucket, or ~0
  AlonePin* alone = nullptr;
  std::atomic<uint32_t>* counted = nullptr;  ///< decremented at completion
  Tracked* next = nullptr;
};
inline constexpr uint64_t kTrackedBit = 1;
static_assert(alignof(Tracked) > kTrackedBit);

/// From pools of fixed size; nullptr: all are under way. Any thread.
Tracked* take_tracked() noexcept;
AlonePin* take_alone_pin() noexcept;
/// One piece of the transfer is done, or the transfer posts no more.
void drop_piece(AlonePin* pin) noexcept;

inline uint64_t cookie_of(const Tracked& tracked) noexcept {
  return reinterpret_cast<uint64_t>(&tracked) | kTrackedBit;
}
/// Gives back what the work used; returns the cookie of whom to tell, or 0.
uint64_t finish_tracked(uint64_t cookie) noexcept;

}  // namespace pinwire
