// Ranks in turn: each is in the ring at most once, so that it never overflows.
#pragma once

#include <bit>
#include <cstdint>

#include "core/base/check.h"
#include "core/base/memory/zeroed_array.h"
#include "driver/work.h"

namespace pinwire {

class RankRing {
 public:
  /// `first`: where its counts begin.
  void make(uint32_t ranks, uint32_t first) {
    mask_ = std::bit_ceil(ranks) - 1;
    head_ = tail_ = first;
    ranks_.make(mask_ + 1);
  }
  bool empty() const noexcept { return head_ == tail_; }
  uint32_t size() const noexcept { return tail_ - head_; }
  Rank first() const noexcept {
    dcheck(!empty(), "no rank waits");
    return ranks_[head_ & mask_];
  }
  void push(Rank rank) noexcept {
    dcheck(size() <= mask_, "a rank is in the ring twice", rank);
    ranks_[tail_++ & mask_] = rank;
  }
  Rank pop() noexcept {
    const Rank rank = first();
    ++head_;
    return rank;
  }

 private:
  ZeroedArray<Rank> ranks_;
  uint32_t mask_ = 0;
  uint32_t head_ = 0;
  uint32_t tail_ = 0;
};

}  // namespace pinwire
