// Where each bucket's entry is: a hash table with open addressing, of a size fixed when it opens.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "core/base/check.h"

namespace pinwire {

class BucketMap {
 public:
  static constexpr uint32_t kNone = ~0u;

  /// For so many keys at once; it is half full then, so that a search ends soon.
  void open(uint32_t keys_max) {
    const uint64_t slots = std::bit_ceil(2 * uint64_t{keys_max} + 2);
    check(count_ == 0, "a map of buckets is opened with buckets in it", count_);
    slots_.assign(slots, Slot{});
    mask_ = slots - 1;
    shift_ = 64 - static_cast<uint32_t>(std::countr_zero(slots));
    keys_max_ = keys_max;
  }

  /// kNone: not there.
  uint32_t find(uint64_t key) const noexcept {
    dcheck(mask_ != 0, "a bucket is looked for in a map that is not open", key);
    for (uint64_t at = home(key);; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.index == kNone || slot.key == key) return slot.index;
    }
  }
  /// It is not there yet.
  void put(uint64_t key, uint32_t index) noexcept {
    check(count_ < keys_max_, "more buckets than there is room for", count_, keys_max_);
    dcheck(index != kNone, "a bucket without an entry", key);
    if constexpr (kChecks) check(find(key) == kNone, "a bucket has two entries", key, index);
    ++count_;
    uint64_t at = home(key);
    while (slots_[at].index != kNone) at = (at + 1) & mask_;
    slots_[at] = {key, index};
  }
  /// It is there. An entry that a search would no longer find past the gap moves into it.
  void erase(uint64_t key) noexcept {
    uint64_t gap = home(key);
    while (slots_[gap].key != key || slots_[gap].index == kNone) {
      check(slots_[gap].index != kNone, "a bucket is erased that is not there", key);
      gap = (gap + 1) & mask_;
    }
    check(count_ != 0, "more buckets are erased than there are", key);
    --count_;
    for (uint64_t at = (gap + 1) & mask_; slots_[at].index != kNone; at = (at + 1) & mask_) {
      const uint64_t way = (at - home(slots_[at].key)) & mask_;
      if (way < ((at - gap) & mask_)) continue;  // its home lies behind the gap
      slots_[gap] = slots_[at];
      gap = at;
    }
    slots_[gap] = Slot{};
    if constexpr (kChecks) check(find(key) == kNone, "a bucket is found that was erased", key);
  }
  uint32_t count() const noexcept { return count_; }

 private:
  struct Slot {
    uint64_t key = 0;
    uint32_t index = kNone;
  };

  /// Fibonacci hashing: neighbours, which keys mostly are, go far apart.
  uint64_t home(uint64_t key) const noexcept { return key * 0x9e3779b97f4a7c15u >> shift_; }

  std::vector<Slot> slots_;
  uint64_t mask_ = 0;
  uint32_t shift_ = 0;
  uint32_t keys_max_ = 0;
  uint32_t count_ = 0;
};

}  // namespace pinwire
