#include "am/message/tracked.h"

#include <mutex>

#include "core/base/check.h"
#include "pin/demand.h"

namespace pinwire {
namespace {

/// Objects of a fixed number, linked while they are free.
template <typename T, uint32_t kCount>
class Pool {
 public:
  T* take() noexcept {
    const std::lock_guard guard(lock_);
    T* item = free_;
    if (item != nullptr) {
      free_ = item->next;
    } else if (fresh_ != kCount) {
      item = &items_[fresh_++];
    }
    dcheck(fresh_ <= kCount, "a pool has given out more than it has", fresh_);
    dcheck(item == nullptr || item < items_ + fresh_, "a free object of another pool", item);
    return item;
  }
  void give(T* item) noexcept {
    const std::lock_guard guard(lock_);
    dcheck(item >= items_ && item < items_ + fresh_, "an object of another pool", item);
    dcheck(item != free_, "an object is given back twice", item);
    item->next = free_;
    free_ = item;
  }

 private:
  PinLock lock_;
  T* free_ = nullptr;
  uint32_t fresh_ = 0;
  T items_[kCount];
};

/// As many as a few connections have room for; transfers that find none wait for some to end.
constinit Pool<Tracked, 4096> tracked_pool;
/// Transfers that find none are copied.
constinit Pool<AlonePin, 256> alone_pool;

}  // namespace

Tracked* take_tracked() noexcept {
  Tracked* tracked = tracked_pool.take();
  if (tracked != nullptr) *tracked = {};
  return tracked;
}
AlonePin* take_alone_pin() noexcept {
  AlonePin* const pin = alone_pool.take();
  if constexpr (kChecks) {
    dcheck(pin == nullptr || pin->pieces.load(std::memory_order_relaxed) == 0,
           "a pin that is free has pieces under way", pin);
  }
  return pin;
}

void drop_piece(AlonePin* pin) noexcept {
  if constexpr (kChecks) {
    dcheck(pin->pieces.load(std::memory_order_relaxed) != 0, "more pieces end than begin");
  }
  // acq_rel: the thread that unpins comes after the last use of all others
  if (pin->pieces.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  dcheck(pin->driver < kDriversMax, "a pin of no driver", pin->driver);
  if (pin->pinned.region.bytes != 0) demands[pin->driver]->own.unpin_alone(pin->pinned);
  alone_pool.give(pin);
}

uint64_t finish_tracked(uint64_t cookie) noexcept {
  dcheck((cookie & kTrackedBit) != 0, "the cookie of no tracked work", cookie);
  auto* tracked = reinterpret_cast<Tracked*>(cookie & ~kTrackedBit);
  dcheck(tracked->driver < kDriversMax, "tracked work of no driver", tracked->driver);
  Demand* const demand = demands[tracked->driver];
  dcheck(demand != nullptr || tracked->remote == RemoteCache::kNone,
         "a bucket of a driver that has none", tracked->remote);
  dcheck(demand != nullptr || tracked->local == Buckets::kNone,
         "own memory of a driver that pins none on demand", tracked->local);
  if (tracked->remote != RemoteCache::kNone) demand->put_back(tracked->remote);
  if (tracked->local != Buckets::kNone) demand->own.done(tracked->local);
  if (tracked->alone != nullptr) drop_piece(tracked->alone);
  if (tracked->counted != nullptr) {
    const uint32_t before = tracked->counted->fetch_sub(1, std::memory_order_relaxed);
    dcheck(before != 0, "more counted work ends than began", tracked->driver);
  }
  const uint64_t told = tracked->cookie;
  dcheck((told & kTrackedBit) == 0, "tracked work that tracks other work", told);
  tracked_pool.give(tracked);
  return told;
}

}  // namespace pinwire
