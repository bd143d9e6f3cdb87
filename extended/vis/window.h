// The part of a peer's segment that is mapped in this process, looked up once for all pieces of a
// transfer: pinwire_direct() looks it up for each.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/api_types.h"
#include "core/engine/target.h"

namespace pinwire::vis {

/// In debug builds nothing is mapped, so that each piece goes the way that checks it
/// (extended/vis/place.h).
class Window {
 public:
  explicit Window(Target target) noexcept {
#ifdef GASNET_DEBUG
    (void)target;
#else
    struct pinwire_reach& reach = ::pinwire_reach[target];
    // Pairs with the release in let_headers_reach(), as in the headers' pinwire_direct().
    bytes_ = std::atomic_ref(reach.size).load(std::memory_order_acquire);
    base_ = reach.base;
    delta_ = reach.delta;
#endif
  }

  /// Whether [remote, remote + bytes) is mapped here; no bytes are not, as for pinwire_direct().
  bool covers(const void* remote, size_t bytes) const noexcept {
    const uintptr_t offset = reinterpret_cast<uintptr_t>(remote) - base_;
    return offset < bytes_ && bytes - 1 < bytes_ - offset;
  }
  /// Our address of the peer's `remote`, which is covered.
  std::byte* here(const void* remote) const noexcept {
    return reinterpret_cast<std::byte*>(reinterpret_cast<uintptr_t>(remote) + delta_);
  }

 private:
  uintptr_t base_ = 0;
  uintptr_t bytes_ = 0;
  uintptr_t delta_ = 0;
};

}  // namespace pinwire::vis
