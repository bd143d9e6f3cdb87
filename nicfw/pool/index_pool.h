// A fixed array of T handed out by index, and FIFO lists threaded through `T::link`. Everything is
// allocated by make(); taking and giving are a push and a pop. An item that was never taken has
// zero bytes only, and costs no memory: whoever takes one sets what must not be zero.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "core/base/check.h"
#include "core/base/memory/zeroed_array.h"

namespace pinwire {

using Index = uint16_t;
inline constexpr Index kNoIndex = 0xffff;

template <typename T>
class IndexPool {
 public:
  void make(uint32_t count) {
    check(count > 0 && count < kNoIndex, "pool size out of range", count);
    items_.make(count);
    free_ = std::make_unique<Index[]>(count);
    count_ = free_count_ = count;
    least_free_.store(count, std::memory_order_relaxed);
    for (uint32_t i = 0; i < count; ++i) free_[i] = static_cast<Index>(count - 1 - i);
  }

  T& operator[](Index index) noexcept {
    dcheck(index < count_, "index out of the pool", index, count_);
    return items_[index];
  }
  const T& operator[](Index index) const noexcept { return items_[index]; }
  uint32_t size() const noexcept { return count_; }
  uint32_t available() const noexcept { return free_count_; }
  /// From any thread.
  uint32_t used_high_water() const noexcept {
    return count_ - least_free_.load(std::memory_order_relaxed);
  }

  /// kNoIndex when `reserve` or fewer are left.
  Index take(uint32_t reserve = 0) noexcept {
    if (free_count_ <= reserve) return kNoIndex;
    if (--free_count_ < least_free_.load(std::memory_order_relaxed)) {
      least_free_.store(free_count_, std::memory_order_relaxed);
    }
    return free_[free_count_];
  }
  void give(Index index) noexcept {
    dcheck(free_count_ < count_ && index < count_, "given twice", index, free_count_);
    free_[free_count_++] = index;
  }

 private:
  ZeroedArray<T> items_;
  std::unique_ptr<Index[]> free_;
  uint32_t count_ = 0;
  uint32_t free_count_ = 0;
  std::atomic<uint32_t> least_free_ = 0;  // relaxed: a figure that orders nothing
};

struct IndexList {
  Index head = kNoIndex;
  Index tail = kNoIndex;

  bool empty() const noexcept { return head == kNoIndex; }
  template <typename T>
  void push(IndexPool<T>& pool, Index index) noexcept {
    pool[index].link = kNoIndex;
    if (empty()) {
      head = index;
    } else {
      pool[tail].link = index;
    }
    tail = index;
  }
  template <typename T>
  Index pop(IndexPool<T>& pool) noexcept {
    const Index index = head;
    head = pool[index].link;
    return index;
  }
};

}  // namespace pinwire
