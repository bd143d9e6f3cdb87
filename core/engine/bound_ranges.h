// This process's memory beyond the segment of attach: what gex_EP_BindSegment made known to the
// drivers. Few ranges, looked up by address: by who reads or writes them locally, and by handlers
// that carry out what a peer asks for.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/bits.h"
#include "core/base/check.h"
#include "core/engine/lane.h"
#include "core/engine/target.h"
#include "driver/work.h"

namespace pinwire {

class DeviceMemory;

struct BoundRange {
  uint64_t base = 0;
  uint64_t bytes = 0;
  uint32_t local_keys[kDriversMax] = {};  ///< kNoRegion: this driver copies from and to it
  DeviceMemory* device = nullptr;         ///< that no CPU touches; nullptr: the host's
};

/// Ranges are never freed, so that whoever looks may still read one that was just taken out.
class BoundRanges {
 public:
  static constexpr uint32_t kRangesMax = 4 * kEndpointsMax;

  /// False: no place is left. One thread at a time adds and removes.
  bool add(const BoundRange& range) noexcept {
    dcheck(range.bytes != 0, "a range of no bytes", range.base);
    dcheck(range.base <= ~range.bytes, "a range beyond the last address", range.base, range.bytes);
    for (uint32_t at = 0; at < kRangesMax; ++at) {
      const BoundRange* there = slots_[at].load(std::memory_order_relaxed);
      dcheck(there != &range, "a range is added twice", range.base);
      if (there != nullptr) continue;
      slots_[at].store(&range, std::memory_order_release);  // pairs with find()
      if (at >= used_.load(std::memory_order_relaxed))
        used_.store(at + 1, std::memory_order_release);
      return true;
    }
    return false;
  }
  void remove(const BoundRange& range) noexcept {
    for (auto& slot : slots_) {
      if (slot.load(std::memory_order_relaxed) != &range) continue;
      slot.store(nullptr, std::memory_order_relaxed);
      return;
    }
    check(false, "a range that was added is there until it is removed");
  }

  /// nullptr: none that holds all of it.
  const BoundRange* find(uint64_t address, uint64_t bytes) const noexcept {
    const uint32_t used = used_.load(std::memory_order_acquire);
    for (uint32_t at = 0; at < used; ++at) {
      const BoundRange* range = slots_[at].load(std::memory_order_acquire);
      if (range != nullptr && inside(address, bytes, range->base, range->bytes)) return range;
    }
    return nullptr;
  }
  /// A range of device memory that has any of it, or nullptr.
  const BoundRange* find_device(uint64_t address, uint64_t bytes) const noexcept {
    const uint32_t used = used_.load(std::memory_order_acquire);
    for (uint32_t at = 0; at < used; ++at) {
      const BoundRange* range = slots_[at].load(std::memory_order_acquire);
      if (range == nullptr || range->device == nullptr) continue;
      if (address < range->base + range->bytes && range->base < address + bytes) return range;
    }
    return nullptr;
  }
  uint32_t key(uint32_t driver, uint64_t address, uint64_t bytes) const noexcept {
    dcheck(driver < kDriversMax, "the key of no driver", driver);
    const BoundRange* range = find(address, bytes);
    return range != nullptr ? range->local_keys[driver] : kNoRegion;
  }

 private:
  std::atomic<uint32_t> used_{0};  ///< slots from here on were never used
  std::atomic<const BoundRange*> slots_[kRangesMax] = {};
};

}  // namespace pinwire
