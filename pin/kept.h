// Pins of memory outside buckets that outlive their transfer: each of the pages of one transfer,
// used again by any that lies within them, until they are unmapped (pin/kernel/watch.h) or their
// room is needed. Beside them lies no other page: one that no transfer uses may be discarded at any
// time.
//
// Not thread-safe: the caller holds the lock, and does all registration and deregistration.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/check.h"
#include "driver/work.h"
#include "pin/idle_list.h"
#include "pin/kernel/watch.h"

namespace pinwire {

class Kept {
 public:
  static constexpr uint32_t kNone = ~0u;
  static constexpr uint32_t kEntriesMax = 256;

  void open(Watch& watch);
  bool is_open() const noexcept { return watch_ != nullptr; }
  /// Watch::settle(), of which a fresh entry is found: before the caller locks, as it may wait.
  bool settle() const noexcept { return watch_ != nullptr && watch_->settle(); }

  /// A fresh entry that covers this; it is in use from here on. kNone: there is none.
  uint32_t use(uint64_t from, uint64_t to) noexcept;
  void done(uint32_t index) noexcept;
  const Region& region(uint32_t index) const noexcept {
    check(index < entries_.size(), "no such kept memory", index);
    check(entries_[index].uses != 0, "kept memory that is not in use", index);
    return entries_[index].region;
  }

  /// An entry for these pages, in use and watched: pin them, then add() or drop() it. kNone: they
  /// cannot be watched. There is room: has_room().
  bool has_room() const noexcept { return !free_.empty(); }
  uint32_t begin(uint64_t from, uint64_t to) noexcept;
  void add(uint32_t index, const Region& region) noexcept;
  void drop(uint32_t index) noexcept;

  /// Entries that are forgotten by these calls, for the caller to unpin; false: no such is idle.
  bool take_stale(Region& region) noexcept;
  bool take_longest_idle(Region& region) noexcept;
  bool take_inside(uint64_t from, uint64_t to, Region& region) noexcept;

  uint64_t events() const noexcept { return watch_ == nullptr ? 0 : watch_->events(); }

 private:
  struct Entry {
    Region region{};  // no bytes: none yet
    uint32_t uses = 0;
    IdleLink idle;
  };

  bool is_idle(const Entry& entry) const noexcept {
    return entry.uses == 0 && entry.region.bytes != 0;
  }
  uint32_t slot(uint32_t index) const noexcept { return slots_from_ + index; }
  void forget(uint32_t index, Region& region) noexcept;

  Watch* watch_ = nullptr;
  uint32_t slots_from_ = 0;
  uint32_t high_ = 0;  // no entry from here on was ever used
  static constexpr uint64_t kNever = ~uint64_t{0};
  uint64_t looked_at_ = 0;  // events, when no idle one was stale
  std::vector<Entry> entries_;
  std::vector<uint32_t> free_;
  IdleList idle_;
};

}  // namespace pinwire
