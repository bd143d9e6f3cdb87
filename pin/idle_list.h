// Entries of a pool that nobody uses, the longest unused first: whom to evict. Linked by index
// through the entries themselves.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/check.h"

namespace pinwire {

/// Part of each entry.
struct IdleLink {
  uint32_t before = ~0u;
  uint32_t after = ~0u;
};

class IdleList {
 public:
  static constexpr uint32_t kNone = ~0u;

  uint32_t first() const noexcept { return first_; }
  bool empty() const noexcept { return first_ == kNone; }

  /// The last to be evicted. `entries` have an IdleLink named `idle`.
  template <typename Entry>
  void add_last(std::span<Entry> entries, uint32_t index) noexcept {
    entries[index].idle = {last_, kNone};
    (last_ == kNone ? first_ : entries[last_].idle.after) = index;
    last_ = index;
  }
  template <typename Entry>
  void remove(std::span<Entry> entries, uint32_t index) noexcept {
    const IdleLink link = entries[index].idle;
    dcheck(link.before != kNone || first_ == index, "not in this list", index);
    (link.before == kNone ? first_ : entries[link.before].idle.after) = link.after;
    (link.after == kNone ? last_ : entries[link.after].idle.before) = link.before;
  }

 private:
  uint32_t first_ = kNone;
  uint32_t last_ = kNone;
};

}  // namespace pinwire
