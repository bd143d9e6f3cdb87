// An estimate of what a port's queue still has to put on the wire. A lane adds each frame that it
// hands over, and takes off what the link can have carried since.
//
// Bytes in that queue are ahead of everything that this lane sends later, and congestion control,
// which sees a path's delay and not whose it is, lets 25 us of them be there. Long frames are
// therefore built only while the queue has room: as much as keeps the link busy until the next
// poll. Small frames do not ask, and so wait for a microsecond of others' bytes at most. Short ones
// ask only when small and short ones fill half of the room: so they do not wait for the turns that
// long ones take at it. Where several lanes share the link it carries less of each than assumed
// here, and congestion control remains the bound.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/check.h"

namespace pinwire {

class TxBacklog {
 public:
  static constexpr uint32_t kNoLimit = ~0u;
  static constexpr uint32_t kSmallBytesMax = 256;
  static constexpr uint32_t kShortBytesMax = 1'280;  ///< of ports whose long frames are longer
  static constexpr uint64_t kLeastNs = 1'000;
  static constexpr uint64_t kMostNs = 1'000'000;  ///< where congestion control is the bound
  static constexpr uint64_t kFadeNs = 100'000;    ///< in which most of a pause is forgotten
  static constexpr uint32_t kGapBytes = 24;  ///< checksum, preamble, gap of a frame on the wire

  /// 0 bits per second: unknown, and so never too much.
  void start(uint64_t bits_per_s, uint32_t frame_bytes_max) noexcept {
    constexpr uint64_t kPsPerS = 1'000'000'000'000;
    ps_per_byte_ = bits_per_s == 0 ? 0 : std::max<uint64_t>(8 * kPsPerS / bits_per_s, 1);
    // Two, so that one is on the wire while the next is built.
    least_ps_ = std::max(kLeastNs * 1'000, 2 * frame_ps(frame_bytes_max));
    limit_ps_ = least_ps_;
    short_bytes_max_ = frame_bytes_max > kShortBytesMax ? kShortBytesMax : kSmallBytesMax;
  }

  /// At a poll: the link had `gap_ns`. A lane that polls rarely must leave it more to do.
  void passed(uint64_t gap_ns) noexcept {
    if (!is_limited()) return;
    drain(std::min(gap_ns, kPauseMaxNs) * 1'000);
    gap_ns = std::min(gap_ns, kMostNs / 2);
    gap_ps_ -= gap_ps_ / kFadeNs * std::min(gap_ns, kFadeNs);
    gap_ps_ = std::max(gap_ns * 1'000, gap_ps_);
    limit_ps_ = std::clamp(2 * gap_ps_, least_ps_, std::max(least_ps_, kMostNs * 1'000));
  }

  void add(uint32_t frame_bytes) noexcept { part(frame_bytes) += frame_ps(frame_bytes); }
  /// The port did not take it.
  void take_back(uint32_t frame_bytes) noexcept {
    dcheck(part(frame_bytes) >= frame_ps(frame_bytes), "a frame that was not added", frame_bytes);
    part(frame_bytes) -= frame_ps(frame_bytes);
  }

  /// All but small frames ask for room.
  static constexpr bool asks(uint32_t frame_bytes) noexcept { return frame_bytes > kSmallBytesMax; }
  bool is_limited() const noexcept { return ps_per_byte_ != 0; }
  bool has_room() const noexcept { return waiting_ps() < limit_ps_ || !is_limited(); }
  bool has_room_for(uint32_t frame_bytes) const noexcept {
    return has_room() || (frame_bytes <= short_bytes_max_ && small_ps_ < limit_ps_ / 2);
  }
  /// Short frames that need not ask for room.
  uint32_t shorts_left() const noexcept {
    if (!is_limited() || small_ps_ >= limit_ps_ / 2) return 0;
    const uint64_t one_ps = frame_ps(short_bytes_max_);
    return static_cast<uint32_t>((limit_ps_ / 2 - small_ps_ + one_ps - 1) / one_ps);
  }
  /// Frames of that length until there is no room.
  uint32_t frames_left(uint32_t frame_bytes) const noexcept {
    if (!is_limited()) return kNoLimit;
    if (!has_room()) return 0;
    const uint64_t one_ps = frame_ps(frame_bytes);
    return static_cast<uint32_t>((limit_ps_ - waiting_ps() + one_ps - 1) / one_ps);
  }

 private:
  static constexpr uint64_t kPauseMaxNs = 1'000'000'000;

  uint64_t frame_ps(uint32_t bytes) const noexcept { return (bytes + kGapBytes) * ps_per_byte_; }
  uint64_t& part(uint32_t frame_bytes) noexcept {
    return frame_bytes > short_bytes_max_ ? long_ps_ : small_ps_;
  }
  /// Small and short frames that come faster than the link carries them leave half of the room to
  /// long ones.
  uint64_t waiting_ps() const noexcept { return long_ps_ + std::min(small_ps_, limit_ps_ / 2); }
  /// And half of the link at least.
  void drain(uint64_t left_ps) noexcept {
    left_ps -= carry(small_ps_, left_ps / 2);
    left_ps -= carry(long_ps_, left_ps);
    carry(small_ps_, left_ps);
  }
  static uint64_t carry(uint64_t& part, uint64_t most_ps) noexcept {
    const uint64_t gone_ps = std::min(part, most_ps);
    part -= gone_ps;
    return gone_ps;
  }

  uint64_t ps_per_byte_ = 0;
  uint64_t long_ps_ = 0, small_ps_ = 0;  ///< what the link has not carried yet; short ones: small
  uint32_t short_bytes_max_ = kSmallBytesMax;
  uint64_t gap_ps_ = 0;  ///< the longest between polls, fading
  uint64_t least_ps_ = 0, limit_ps_ = 0;
};

}  // namespace pinwire
