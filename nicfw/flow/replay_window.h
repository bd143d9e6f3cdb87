// Which frames of a peer have arrived, by the numbers that every transmission has (RFC 4303,
// section 3.4.3): a frame is taken once, however often a stranger sends it again. Numbers have 64
// bits, of which the upper half is not on the wire but under the tag, so that a frame recorded
// 2^32 frames ago bears a wrong tag. A frame that is overtaken by kFrames others counts as seen:
// it is as good as lost.
#pragma once

#include <cstdint>

namespace pinwire {

class ReplayWindow {
 public:
  static constexpr uint32_t kFrames = 128;

  void start(uint64_t first) noexcept { next_ = first; }

  /// The lower half of the newest number that has arrived.
  uint32_t newest() const noexcept { return static_cast<uint32_t>(next_ - 1); }

  /// The upper half of the number nearest to the next one whose lower half is `low`.
  uint32_t high_half(uint32_t low) const noexcept {
    const auto distance = static_cast<int32_t>(low - static_cast<uint32_t>(next_));
    return static_cast<uint32_t>((next_ + static_cast<uint64_t>(int64_t{distance})) >> 32);
  }

  /// A frame of this number has arrived, or is too old to tell.
  bool has_seen(uint64_t number) const noexcept {
    return number < next_ &&
           (next_ - number > kFrames || (seen_[number / 64 % (kFrames / 64)] & bit(number)) != 0);
  }

  /// False: has_seen().
  bool mark(uint64_t number) noexcept {
    if (number >= next_) {
      advance(number);
    } else if (has_seen(number)) {
      return false;
    }
    word(number) |= bit(number);
    return true;
  }

 private:
  static constexpr uint64_t bit(uint64_t number) noexcept { return uint64_t{1} << (number % 64); }
  uint64_t& word(uint64_t number) noexcept { return seen_[number / 64 % (kFrames / 64)]; }

  /// Numbers from next_ to `number` come into the window: their bits are those of older ones.
  void advance(uint64_t number) noexcept {
    if (number == next_) [[likely]] {
      word(number) &= ~bit(number);
    } else if (number - next_ >= kFrames) {
      for (uint64_t& seen : seen_) seen = 0;
    } else {
      for (uint64_t n = next_; n <= number; ++n) word(n) &= ~bit(n);
    }
    next_ = number + 1;
  }

  uint64_t next_ = 0;  ///< behind the newest
  uint64_t seen_[kFrames / 64] = {};
};
static_assert(sizeof(ReplayWindow) == 24);

}  // namespace pinwire
