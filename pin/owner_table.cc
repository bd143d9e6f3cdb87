#include "pin/owner_table.h"

#include <numeric>

namespace pinwire {

void OwnerTable::open(const Shares& shares, uint32_t rank_count) {
  shares_ = shares;
  const uint32_t count = shares.buckets_of_peers + shares.buckets_own;
  entries_.assign(count, Entry{});
  free_.resize(count);
  std::iota(free_.rbegin(), free_.rend(), 0u);
  held_by_.assign(rank_count, 0);
  map_.open(count);
}

OwnerTable::Victim OwnerTable::make_room() noexcept { return free_.empty() ? evict() : Victim{}; }

OwnerTable::Victim OwnerTable::evict() noexcept {
  const uint32_t index = idle_.first();
  if (index == kNone) return {};
  Entry& entry = entries_[index];
  check(entry.holders == 0, "a bucket is evicted that peers hold", index, entry.holders);
  check(entry.uses == 0, "a bucket is evicted that own transfers use", index, entry.uses);
  idle_.remove(std::span(entries_), index);
  map_.erase(entry.number);
  const Victim victim{true, entry.region};
  entry = Entry{};
  free_.push_back(index);
  --pinned_;
  check(pinned_ + free_.size() == entries_.size(), "entries of buckets are lost", pinned_);
  return victim;
}

uint32_t OwnerTable::add(uint64_t number, const Region& region) noexcept {
  check(!free_.empty(), "a bucket was pinned without room for it", number);
  const uint32_t index = free_.back();
  free_.pop_back();
  Entry& entry = entries_[index];
  check(entry.region.bytes == 0, "a bucket gets an entry that another one has", number, index);
  check(region.bytes != 0, "a bucket is added that is not pinned", number);
  entry.number = number;
  entry.region = region;
  map_.put(number, index);
  idle_.add_last(std::span(entries_), index);
  ++pinned_;
  check(pinned_ + free_.size() == entries_.size(), "entries of buckets are lost", pinned_);
  return index;
}

void OwnerTable::begin(uint32_t index) noexcept {
  dcheck(entries_[index].region.bytes != 0, "a bucket is taken that is not pinned", index);
  if (is_idle(entries_[index])) idle_.remove(std::span(entries_), index);
}

void OwnerTable::end(uint32_t index) noexcept {
  if (is_idle(entries_[index])) idle_.add_last(std::span(entries_), index);
}

bool OwnerTable::hold(uint32_t index, Rank peer) noexcept {
  if (held_by_[peer] >= shares_.buckets_per_peer) return false;
  begin(index);
  ++held_by_[peer];
  ++entries_[index].holders;
  return true;
}

bool OwnerTable::let_go(uint32_t index, Rank peer) noexcept {
  if (index >= entries_.size() || entries_[index].holders == 0 || held_by_[peer] == 0) return false;
  --held_by_[peer];
  --entries_[index].holders;
  end(index);
  return true;
}

bool OwnerTable::use(uint32_t index) noexcept {
  Entry& entry = entries_[index];
  if (entry.uses == 0) {
    if (!may_use_another()) return false;
    ++in_use_;
  }
  check(in_use_ <= shares_.buckets_own, "own transfers use more buckets than their share", in_use_,
        shares_.buckets_own);
  begin(index);
  ++entry.uses;
  return true;
}

void OwnerTable::done(uint32_t index) noexcept {
  Entry& entry = entries_[index];
  check(entry.uses != 0, "a bucket is given back that is not in use", index);
  check(in_use_ != 0, "own transfers use a bucket, and are counted to use none", index);
  if (--entry.uses == 0) --in_use_;
  end(index);
}

}  // namespace pinwire
