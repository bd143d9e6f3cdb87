// Whose connection a queue pair is: on iWARP, where a message cannot name its sender (no immediate
// data).
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "core/base/check.h"
#include "driver/work.h"

namespace pinwire::verbs {

/// Filled before the first message, constant afterwards.
class Senders {
 public:
  void open(uint32_t count) { slots_.assign(std::bit_ceil(2 * count + 1), {}); }
  void add(uint32_t queue_pair, Rank rank) noexcept {
    uint32_t at = start_of(queue_pair);
    while (slots_[at].queue_pair != kNone) {
      check(slots_[at].queue_pair != queue_pair, "a queue pair of two ranks", queue_pair, rank);
      at = next(at);
    }
    slots_[at] = {queue_pair, rank};
    ++taken_;
    check(2 * taken_ <= slots_.size(), "a search for a queue pair may not end", taken_);
  }
  /// A rank that no job has, for a queue pair that is nobody's.
  Rank rank_of(uint32_t queue_pair) const noexcept {
    uint32_t at = start_of(queue_pair);
    while (slots_[at].queue_pair != queue_pair && slots_[at].queue_pair != kNone) at = next(at);
    return slots_[at].rank;
  }

 private:
  static constexpr uint32_t kNone = ~0u;  // queue pairs have 24 bits (IBA 3.5.3)
  struct Slot {
    uint32_t queue_pair = kNone;
    Rank rank = ~0u;
  };
  uint32_t start_of(uint32_t queue_pair) const noexcept {
    return queue_pair * 0x9e3779b1u & (static_cast<uint32_t>(slots_.size()) - 1);
  }
  uint32_t next(uint32_t at) const noexcept {
    return (at + 1) & (static_cast<uint32_t>(slots_.size()) - 1);
  }

  uint32_t taken_ = 0;
  std::vector<Slot> slots_;  // at most half of them are taken, so every search ends
};

}  // namespace pinwire::verbs
