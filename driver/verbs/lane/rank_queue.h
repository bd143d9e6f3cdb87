// Ranks on their way between a lane and the connector, in one direction: one thread at a time
// pushes, and one pops.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/check.h"
#include "driver/work.h"

namespace pinwire::verbs {

class RankQueue {
 public:
  /// `first`: where its counts begin; a test begins next to their wrap.
  explicit RankQueue(uint32_t first = 0) noexcept : begin_(first), end_(first) {}

  /// False: there are many already; try again later.
  bool push(Rank rank) noexcept {
    const uint32_t end = end_.load(std::memory_order_relaxed);
    const uint32_t held = end - begin_.load(std::memory_order_acquire);
    dcheck(held <= kMax, "more ranks wait than the queue holds", held);
    if (held == kMax) return false;
    ranks_[end % kMax] = rank;
    end_.store(end + 1, std::memory_order_release);  // pairs with the acquire in pop()
    return true;
  }
  /// To the thread that pushes: false stays false until it pushes.
  bool is_full() const noexcept {
    return end_.load(std::memory_order_relaxed) - begin_.load(std::memory_order_acquire) == kMax;
  }
  bool pop(Rank& rank) noexcept {
    const uint32_t begin = begin_.load(std::memory_order_relaxed);
    if (begin == end_.load(std::memory_order_acquire)) return false;
    rank = ranks_[begin % kMax];
    begin_.store(begin + 1, std::memory_order_release);  // pairs with the acquire in push()
    return true;
  }

 private:
  static constexpr uint32_t kMax = 64;
  static_assert((uint64_t{1} << 32) % kMax == 0, "the counts wrap");
  std::atomic<uint32_t> begin_;
  std::atomic<uint32_t> end_;
  Rank ranks_[kMax] = {};
};

}  // namespace pinwire::verbs
