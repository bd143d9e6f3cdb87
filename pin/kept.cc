#include "pin/kept.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "core/base/check.h"

namespace pinwire {

void Kept::open(Watch& watch) {
  check(watch_ == nullptr, "pins are kept already");
  watch_ = &watch;
  slots_from_ = watch.take_slots(kEntriesMax);
  entries_.assign(kEntriesMax, Entry{});
  free_.resize(kEntriesMax);
  std::iota(free_.rbegin(), free_.rend(), 0u);
}

uint32_t Kept::use(uint64_t from, uint64_t to) noexcept {
  check(from < to, "a transfer of no bytes", from, to);
  for (uint32_t i = 0; i < high_; ++i) {
    Entry& entry = entries_[i];
    const Region& region = entry.region;
    if (from < region.base || to > region.base + region.bytes) continue;
    if (watch_->is_stale(slot(i))) continue;
    if (entry.uses++ == 0) idle_.remove(std::span(entries_), i);
    return i;
  }
  return kNone;
}

void Kept::done(uint32_t index) noexcept {
  Entry& entry = entries_[index];
  check(entry.uses != 0, "kept memory is given back that is not in use", index);
  check(entry.region.bytes != 0, "memory is given back that was not pinned", index);
  if (--entry.uses != 0) return;
  idle_.add_last(std::span(entries_), index);
  if (watch_->is_stale(slot(index))) looked_at_ = kNever;
}

uint32_t Kept::begin(uint64_t from, uint64_t to) noexcept {
  check(!free_.empty(), "memory is kept without room for it", from);
  const uint32_t index = free_.back();
  if (!watch_->watch(slot(index), from, to)) return kNone;
  free_.pop_back();
  high_ = std::max(high_, index + 1);
  check(entries_[index].uses == 0, "a free entry of kept memory is in use", index);
  check(entries_[index].region.bytes == 0, "a free entry of kept memory has a pin", index);
  entries_[index].uses = 1;
  return index;
}

void Kept::add(uint32_t index, const Region& region) noexcept {
  check(index < high_, "an entry of kept memory that was never used", index, high_);
  check(entries_[index].uses == 1, "memory is kept beside its transfer", index);
  check(entries_[index].region.bytes == 0, "an entry of kept memory gets a second pin", index);
  check(region.bytes != 0, "memory is kept that is not pinned", index);
  entries_[index].region = region;
}

void Kept::drop(uint32_t index) noexcept {
  check(free_.size() < entries_.size(), "more entries are dropped than there are", index);
  entries_[index] = Entry{};
  free_.push_back(index);
}

void Kept::forget(uint32_t index, Region& region) noexcept {
  check(is_idle(entries_[index]), "kept memory is unpinned that is in use", index,
        entries_[index].uses);
  region = entries_[index].region;
  idle_.remove(std::span(entries_), index);
  drop(index);
}

bool Kept::take_stale(Region& region) noexcept {
  if (watch_ == nullptr) return false;
  // Read first: an event that comes meanwhile is for the next look.
  const uint64_t events = watch_->events();
  if (events == looked_at_) return false;
  check(high_ <= entries_.size(), "there are no entries beyond the last", high_);
  for (uint32_t i = 0; i < high_; ++i) {
    if (!is_idle(entries_[i]) || !watch_->is_stale(slot(i))) continue;
    forget(i, region);
    return true;
  }
  looked_at_ = events;
  return false;
}

bool Kept::take_longest_idle(Region& region) noexcept {
  const uint32_t index = idle_.first();
  if (index == kNone) return false;
  forget(index, region);
  return true;
}

bool Kept::take_inside(uint64_t from, uint64_t to, Region& region) noexcept {
  for (uint32_t i = 0; i < high_; ++i) {
    const Region& at = entries_[i].region;
    if (!is_idle(entries_[i]) || at.base < from || at.base + at.bytes > to) continue;
    forget(i, region);
    return true;
  }
  return false;
}

}  // namespace pinwire
