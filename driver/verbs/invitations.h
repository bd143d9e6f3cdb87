// Ranks that a lane wants to send to, on their way to the connector: written by whoever holds the
// lane, read by the connector.
#pragma once

#include <atomic>
#include <cstdint>

#include "driver/work.h"

namespace pinwire::verbs {

class Invitations {
 public:
  /// False: there are many already; try again later.
  bool push(Rank rank) noexcept {
    const uint32_t end = end_.load(std::memory_order_relaxed);
    if (end - begin_.load(std::memory_order_acquire) == kMax) return false;
    ranks_[end % kMax] = rank;
    end_.store(end + 1, std::memory_order_release);  // pairs with the acquire in pop()
    return true;
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
  std::atomic<uint32_t> begin_{0};
  std::atomic<uint32_t> end_{0};
  Rank ranks_[kMax] = {};
};

}  // namespace pinwire::verbs
