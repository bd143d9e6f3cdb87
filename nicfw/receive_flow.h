// What arrived of one flow: everything before `next`, and a bitmap of what came ahead of it.
#pragma once

#include <cstdint>

#include "core/base/bits.h"
#include "nicfw/wire.h"

namespace pinwire {

enum class Arrival : uint8_t { kNew, kDuplicate, kOutside };

class ReceiveFlow {
 public:
  void start(uint32_t first_sequence) noexcept { next_ = first_sequence; }
  /// The cumulative acknowledgement: the lowest sequence that has not arrived.
  uint32_t next() const noexcept { return next_; }
  bool has_holes() const noexcept { return ahead_ != 0; }

  Arrival classify(uint32_t sequence) const noexcept {
    const uint32_t distance = sequence - next_;
    if (distance < kWindowFramesMax) return bit(sequence) ? Arrival::kDuplicate : Arrival::kNew;
    return seq_before(sequence, next_) ? Arrival::kDuplicate : Arrival::kOutside;
  }

  /// `sequence` was classified as kNew.
  void mark(uint32_t sequence) noexcept {
    if (ahead_ == 0 && sequence == next_) [[likely]] {
      ++next_;
      return;
    }
    bits_[(sequence % kWindowFramesMax) / 64] |= uint64_t{1} << (sequence % 64);
    ++ahead_;
    for (; ahead_ != 0 && bit(next_); ++next_, --ahead_) {
      bits_[(next_ % kWindowFramesMax) / 64] &= ~(uint64_t{1} << (next_ % 64));
    }
  }

  /// Did the `count` frames just before `sequence` all arrive?
  bool arrived_before(uint32_t sequence, uint32_t count) const noexcept {
    uint32_t ahead_of_next = sequence - next_;
    if (!seq_before(next_, sequence)) return true;
    if (ahead_of_next > kWindowFramesMax) return false;
    if (count >= ahead_of_next) return false;  // `next` itself is one of them, and is missing
    for (uint32_t s = sequence - count; s != sequence; ++s) {
      if (!bit(s)) return false;
    }
    return true;
  }

  /// Bit i: sequence next + i arrived.
  SackBitmap sack() const noexcept {
    SackBitmap map;
    for (uint32_t i = 0; i < kWindowFramesMax && ahead_ != 0; ++i) {
      if (bit(next_ + i)) map.words[i / 64] |= uint64_t{1} << (i % 64);
    }
    return map;
  }

 private:
  bool bit(uint32_t sequence) const noexcept {
    return bits_[(sequence % kWindowFramesMax) / 64] >> (sequence % 64) & 1;
  }

  uint32_t next_ = 0;
  uint32_t ahead_ = 0;  ///< bits set
  uint64_t bits_[kWindowFramesMax / 64] = {};
};
static_assert(sizeof(ReceiveFlow) == 40);

}  // namespace pinwire
