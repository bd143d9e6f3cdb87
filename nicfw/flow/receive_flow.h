// The receiver's side of one flow: `next`, before which everything has arrived, and a bitmap of the
// frames ahead of it. Few flows have a gap at any time, so that the bitmaps are the lane's: a flow
// takes one with its first gap, and gives it back with its last. A frame that would need one when
// there is none is not accepted, as good as lost; the frame that a flow waits for never needs one.
#pragma once

#include <cstdint>

#include "core/base/bits.h"
#include "nicfw/pool/index_pool.h"
#include "nicfw/wire/wire.h"

namespace pinwire {

enum class Arrival : uint8_t { kNew, kDuplicate, kOutside };

/// Bit sequence % kWindowFramesMax: arrived ahead of a gap.
struct ArrivedAhead {
  uint64_t bits[kWindowFramesMax / 64];
};
using ArrivedAheadPool = IndexPool<ArrivedAhead>;

class ReceiveFlow {
 public:
  void start(uint32_t first_sequence) noexcept { next_ = first_sequence; }
  /// The cumulative acknowledgement: the lowest sequence that has not arrived.
  uint32_t next() const noexcept { return next_; }
  bool has_holes() const noexcept { return ahead_ != 0; }

  Arrival classify(const ArrivedAheadPool& pool, uint32_t sequence) const noexcept {
    const uint32_t distance = sequence - next_;
    if (distance < kWindowFramesMax) {
      return bit(pool, sequence) ? Arrival::kDuplicate : Arrival::kNew;
    }
    return seq_before(sequence, next_) ? Arrival::kDuplicate : Arrival::kOutside;
  }

  bool may_mark(const ArrivedAheadPool& pool, uint32_t sequence) const noexcept {
    return sequence == next_ || map_ != kNoIndex || pool.available() != 0;
  }

  /// `sequence` was classified as kNew, and may be marked.
  void mark(ArrivedAheadPool& pool, uint32_t sequence) noexcept {
    if (ahead_ == 0 && sequence == next_) [[likely]] {
      ++next_;
      return;
    }
    if (map_ == kNoIndex) {
      map_ = pool.take();
      check(map_ != kNoIndex, "a frame was accepted ahead of a gap without a bitmap", sequence);
    }
    uint64_t* const bits = pool[map_].bits;
    bits[(sequence % kWindowFramesMax) / 64] |= uint64_t{1} << (sequence % 64);
    ++ahead_;
    for (; ahead_ != 0 && bit(pool, next_); ++next_, --ahead_) {
      bits[(next_ % kWindowFramesMax) / 64] &= ~(uint64_t{1} << (next_ % 64));
    }
    if (ahead_ != 0) return;
    pool.give(map_);  // all of its bits are 0 again, as they are in a new pool
    map_ = kNoIndex;
  }

  /// Did the `count` frames just before `sequence` all arrive?
  bool arrived_before(const ArrivedAheadPool& pool, uint32_t sequence,
                      uint32_t count) const noexcept {
    uint32_t ahead_of_next = sequence - next_;
    if (!seq_before(next_, sequence)) return true;
    if (ahead_of_next > kWindowFramesMax) return false;
    if (count >= ahead_of_next) return false;  // `next` itself is one of them, and is missing
    for (uint32_t s = sequence - count; s != sequence; ++s) {
      if (!bit(pool, s)) return false;
    }
    return true;
  }

  /// Bit i: sequence next + i arrived.
  SackBitmap sack(const ArrivedAheadPool& pool) const noexcept {
    SackBitmap map;
    for (uint32_t i = 0; i < kWindowFramesMax && ahead_ != 0; ++i) {
      if (bit(pool, next_ + i)) map.words[i / 64] |= uint64_t{1} << (i % 64);
    }
    return map;
  }

 private:
  bool bit(const ArrivedAheadPool& pool, uint32_t sequence) const noexcept {
    if (map_ == kNoIndex) return false;
    return pool[map_].bits[(sequence % kWindowFramesMax) / 64] >> (sequence % 64) & 1;
  }

  uint32_t next_ = 0;
  uint16_t ahead_ = 0;  ///< bits set
  Index map_ = kNoIndex;
};
static_assert(sizeof(ReceiveFlow) == 8);

}  // namespace pinwire
