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
  bool empty() const noexcept {
    dcheck((first_ == kNone) == (last_ == kNone), "a list of idle entries has one end", first_,
           last_);
    return first_ == kNone;
  }

  /// The last to be evicted. `entries` have an IdleLink named `idle`.
  template <typename Entry>
  void add_last(std::span<Entry> entries, uint32_t index) noexcept {
    dcheck(index < entries.size(), "an entry that is not there becomes idle", index);
    dcheck(entries[index].idle.before == kNone, "an entry becomes idle that follows another one",
           index, entries[index].idle.before);
    dcheck(first_ != index, "an entry becomes idle that is the first in the list", index);
    dcheck(last_ == kNone || entries[last_].idle.after == kNone,
           "the last in a list of idle entries has one after it", last_);
    entries[index].idle = {last_, kNone};
    (last_ == kNone ? first_ : entries[last_].idle.after) = index;
    last_ = index;
  }
  template <typename Entry>
  void remove(std::span<Entry> entries, uint32_t index) noexcept {
    const IdleLink link = entries[index].idle;
    dcheck(link.before != kNone || first_ == index, "not in this list", index);
    dcheck(link.after != kNone || last_ == index, "not the last in this list", index, last_);
    dcheck(link.before == kNone || entries[link.before].idle.after == index,
           "the entry before another one leads elsewhere", link.before, index);
    dcheck(link.after == kNone || entries[link.after].idle.before == index,
           "the entry after another one leads elsewhere", link.after, index);
    (link.before == kNone ? first_ : entries[link.before].idle.after) = link.after;
    (link.after == kNone ? last_ : entries[link.after].idle.before) = link.before;
    if constexpr (kChecks) entries[index].idle = {};  // add_last() asks whether it is in a list
  }

 private:
  uint32_t first_ = kNone;
  uint32_t last_ = kNone;
};

}  // namespace pinwire
