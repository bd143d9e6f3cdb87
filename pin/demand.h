// All pinning on demand, by driver: own memory, and what is known of peers'. Opened at attach for
// the drivers that work by keys of pinned memory; nullptr for all others.
#pragma once

#include <mutex>

#include "core/engine/lane.h"
#include "pin/buckets.h"
#include "pin/remote_cache.h"

namespace pinwire {

struct Demand {
  Buckets own;
  mutable PinLock cache_lock;  ///< of `cache`; never held across a system call
  RemoteCache cache;

  void put_back(uint32_t index) noexcept {
    const std::lock_guard guard(cache_lock);
    cache.put_back(index);
  }
  void stats(StatSink& sink) const noexcept;
};

inline constinit Demand* demands[kDriversMax] = {};

}  // namespace pinwire
