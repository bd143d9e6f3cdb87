#include "pin/buckets.h"

#include <algorithm>
#include <mutex>

#include "core/base/bits.h"
#include "core/base/check.h"
#include "core/base/log.h"
#include "core/base/memory/page.h"
#include "core/base/no_cancel.h"

namespace pinwire {

using Guard = std::lock_guard<PinLock>;

void Buckets::open(Driver& driver, const Shares& shares, uint32_t rank_count, uint64_t base,
                   uint64_t bytes) {
  check(driver_ == nullptr, "pins on demand are opened twice");
  check(base + bytes >= base, "buckets lie beyond all memory", base, bytes);
  driver_ = &driver;
  table_.open(shares, rank_count);
  base_ = base;
  end_ = base + bytes;
  alone_bytes_max_ = shares.alone_bytes;
}

Buckets::Answer Buckets::grant(Rank peer, uint64_t number, uint32_t gives_back,
                               Granted& granted) noexcept {
  const Guard guard(lock_);
  if (gives_back != kNone && !table_.let_go(gives_back, peer)) return Answer::kMalformed;
  if (base_ == end_ || number < base_ >> shares().bucket_shift ||
      number > (end_ - 1) >> shares().bucket_shift) {
    return Answer::kMalformed;
  }
  if (table_.held_by(peer) >= shares().buckets_per_peer) return Answer::kMalformed;
  uint32_t index = table_.find(number);
  if (index == kNone) index = pin(number);
  if (index == kNone) return Answer::kRefused;
  check(table_.hold(index, peer), "a peer holds more than its share", peer);
  const OwnerTable::Entry& entry = table_.at(index);
  const uint64_t start = number << shares().bucket_shift;
  check(entry.region.base >= start, "what is pinned of a bucket begins before it", number,
        entry.region.base);
  check(entry.region.base + entry.region.bytes - start <= shares().bucket_bytes(),
        "what is pinned of a bucket ends behind it", number, entry.region.bytes);
  granted.index = index;
  granted.key = entry.region.remote_key;
  granted.from = static_cast<uint32_t>(entry.region.base - start);
  granted.to = static_cast<uint32_t>(entry.region.base + entry.region.bytes - start);
  return Answer::kGranted;
}

Buckets::Used Buckets::use(const void* address, bool pins) noexcept {
  if (!covers(address)) return {};
  const uint64_t number = reinterpret_cast<uint64_t>(address) >> shares().bucket_shift;
  const Guard guard(lock_);
  uint32_t index = table_.find(number);
  if (index != kNone) {
    ++counters_.hits;
  } else {
    if (!pins || !table_.may_use_another()) return {};
    ++counters_.misses;
    index = pin(number);
    if (index == kNone) return {};
  }
  if (!table_.use(index)) return {};
  const Region& region = table_.at(index).region;
  dcheck(reinterpret_cast<uint64_t>(address) - region.base < region.bytes,
         "a bucket is used for memory outside of it", address, region.base);
  return {index, region.local_key, region.base + region.bytes};
}

void Buckets::done(uint32_t index) noexcept {
  const Guard guard(lock_);
  table_.done(index);
}

Buckets::Alone Buckets::pin_alone(void* address, uint64_t bytes) noexcept {
  const auto from = reinterpret_cast<uint64_t>(address);
  const bool is_settled = kept_.settle();
  const Guard guard(lock_);
  unpin_stale();
  if (is_settled) {
    const Alone kept = use_kept(from & ~(kPageBytes - 1), align_up(from + bytes, kPageBytes));
    if (kept.region.bytes != 0) return kept;
  } else if (kept_.is_open()) {
    ++counters_.unsettled;
  }
  if (!make_room_alone(bytes)) return {};
  // A refusal says little: a source that may only be read cannot be pinned either.
  const NoCancel whole;
  auto region = driver_->pin(address, bytes, -1, 0);
  if (!region) {
    ++counters_.refusals;
    return {};
  }
  check(region->bytes == bytes, "a driver pinned another range than was asked for", bytes,
        region->bytes);
  alone_bytes_ += bytes;
  check(alone_bytes_ <= alone_bytes_max_, "more is pinned for single transfers than their share",
        alone_bytes_, alone_bytes_max_);
  count_pin(bytes);
  return {*region, Kept::kNone};
}

void Buckets::unpin_alone(const Alone& alone) noexcept {
  const Guard guard(lock_);
  if (alone.kept != Kept::kNone) {
    kept_.done(alone.kept);
    unpin_stale();
    return;
  }
  check(alone.region.bytes != 0, "memory is unpinned that was not pinned");
  check(alone_bytes_ >= alone.region.bytes, "more is unpinned than was pinned for transfers",
        alone_bytes_, alone.region.bytes);
  alone_bytes_ -= alone.region.bytes;
  unpin(alone.region);
}

Result<Region> Buckets::pin_device(void* base, uint64_t bytes, int dmabuf) {
  const NoCancel whole;
  const Guard guard(lock_);
  return driver_->pin_device(base, bytes, dmabuf);
}

void Buckets::unpin_device(const Region& region) noexcept {
  const NoCancel whole;
  const Guard guard(lock_);
  const Status unpinned = driver_->unpin(region);
  check(unpinned.ok(), "device memory cannot be unpinned", region.base, region.bytes);
}

/// Whole pages, after Watch::settle(). A region of no bytes: they cannot be kept.
Buckets::Alone Buckets::use_kept(uint64_t from, uint64_t to) noexcept {
  uint32_t index = kept_.use(from, to);
  if (index != Kept::kNone) {
    const Region& kept = kept_.region(index);
    check(kept.base <= from, "kept memory begins behind the transfer", kept.base, from);
    check(kept.base + kept.bytes >= to, "kept memory ends before the transfer", kept.base, to);
    ++counters_.kept_hits;
    return {kept, index};
  }
  ++counters_.kept_misses;
  Region inside;
  while (kept_.take_inside(from, to, inside)) unpin_kept(inside);
  if (!make_room_alone(to - from) || (!kept_.has_room() && !evict_kept())) return {};
  index = kept_.begin(from, to);
  if (index == Kept::kNone) {
    ++counters_.unwatchable;
    return {};
  }
  const Region region = pin_evicting(from, to - from);
  if (region.bytes == 0) {
    kept_.drop(index);
    return {};
  }
  kept_.add(index, region);
  alone_bytes_ += region.bytes;
  check(alone_bytes_ <= alone_bytes_max_, "more is kept for transfers than their share",
        alone_bytes_, alone_bytes_max_);
  counters_.kept_bytes += region.bytes;
  counters_.kept_bytes_max = std::max(counters_.kept_bytes_max, counters_.kept_bytes);
  return {region, index};
}

bool Buckets::make_room_alone(uint64_t bytes) noexcept {
  if (bytes > alone_bytes_max_) return false;
  while (bytes > alone_bytes_max_ - alone_bytes_) {
    if (!evict_kept()) return false;
  }
  return true;
}

bool Buckets::evict_kept() noexcept {
  Region region;
  if (!kept_.take_longest_idle(region)) return false;
  ++counters_.kept_evictions;
  unpin_kept(region);
  return true;
}

void Buckets::unpin_kept(const Region& region) noexcept {
  check(counters_.kept_bytes >= region.bytes, "more is unpinned than was kept",
        counters_.kept_bytes, region.bytes);
  check(alone_bytes_ >= counters_.kept_bytes, "more is kept than is pinned for transfers",
        alone_bytes_, counters_.kept_bytes);
  alone_bytes_ -= region.bytes;
  counters_.kept_bytes -= region.bytes;
  unpin(region);
}

/// A pin of memory that was unmapped is of no use to anybody.
void Buckets::unpin_stale() noexcept {
  Region region;
  while (kept_.take_stale(region)) {
    ++counters_.kept_stale;
    unpin_kept(region);
  }
}

void Buckets::count_bounce() noexcept {
  const Guard guard(lock_);
  ++counters_.bounces;
}

PinCounters Buckets::counters() const noexcept {
  const Guard guard(lock_);
  return counters_;
}

uint32_t Buckets::pin(uint64_t number) noexcept {
  const uint64_t start = number << shares().bucket_shift;
  const uint64_t from = std::max(start, base_);
  const uint64_t to = std::min(start + shares().bucket_bytes(), end_);
  check(from < to, "a bucket outside of the memory that has buckets", number);
  if (const auto victim = table_.make_room(); victim.is_any) unpin(victim.region);
  const Region region = pin_evicting(from, to - from);
  return region.bytes == 0 ? kNone : table_.add(number, region);
}

/// A device that has no more may have it once something idle is gone.
Region Buckets::pin_evicting(uint64_t address, uint64_t bytes) noexcept {
  const NoCancel whole;
  for (;;) {
    auto region = driver_->pin(reinterpret_cast<void*>(address), bytes, -1, 0);
    if (region) {
      check(region->base == address, "a driver pinned other memory than was asked for", address,
            region->base);
      check(region->bytes == bytes, "a driver pinned another range than was asked for", bytes,
            region->bytes);
      count_pin(bytes);
      return *region;
    }
    ++counters_.refusals;
    if (evict_one()) continue;
    if (!has_told_) {
      has_told_ = true;
      log_warning("%s; %llu bytes are pinned on demand, and transfers that need more are copied",
                  region.sentence().c_str(), static_cast<unsigned long long>(counters_.bytes));
    }
    return {};
  }
}

void Buckets::count_pin(uint64_t bytes) noexcept {
  ++counters_.pins;
  counters_.bytes += bytes;
  counters_.bytes_max = std::max(counters_.bytes_max, counters_.bytes);
}

bool Buckets::evict_one() noexcept {
  const auto victim = table_.evict();
  if (victim.is_any) unpin(victim.region);
  return victim.is_any || evict_kept();
}

void Buckets::unpin(const Region& region) noexcept {
  const NoCancel whole;
  const Status unpinned = driver_->unpin(region);
  check(unpinned.ok(), "what was pinned on demand cannot be unpinned", region.base, region.bytes);
  check(counters_.unpins < counters_.pins, "more is unpinned than was pinned", counters_.unpins);
  check(counters_.bytes >= region.bytes, "more bytes are unpinned than were pinned",
        counters_.bytes, region.bytes);
  ++counters_.unpins;
  counters_.bytes -= region.bytes;
}

}  // namespace pinwire
