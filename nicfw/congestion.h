// How many frames may be in flight to one peer: a window steered by delay, as Swift (Kumar et al.,
// SIGCOMM 2020) steers it. While the round trip stays under the target, which a short path never
// leaves, the window only grows: congestion control is then without effect.
//
// Loss alone is no sign of congestion here (links do damage frames): it shrinks the window only
// when the delay says so too, or when a large part of a window was lost, which a shallow switch
// buffer does without adding delay.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pinwire {

class CongestionWindow {
 public:
  static constexpr uint32_t kFloorFrames = 8;
  static constexpr uint64_t kTargetFloorNs = 200'000;

  void start(uint32_t window_frames) noexcept {
    limit_ = static_cast<uint16_t>(window_frames);
    frames_ = limit_;
  }
  uint32_t frames() const noexcept { return frames_; }

  /// `acked` frames were acknowledged; the newest took `rtt_ns` (0: no sample).
  void on_ack(uint32_t acked, uint64_t rtt_ns, uint64_t least_rtt_ns, uint64_t now_ns) noexcept {
    if (rtt_ns != 0) slow_ = rtt_ns > std::max(kTargetFloorNs, 8 * least_rtt_ns);
    if (slow_) {
      shrink(now_ns, rtt_ns != 0 ? rtt_ns : least_rtt_ns, 3);
      return;
    }
    if (frames_ == limit_) return;
    credit_ = static_cast<uint16_t>(std::min<uint32_t>(credit_ + acked, 0xffff));
    if (credit_ >= frames_) {  // one round trip's worth
      credit_ = 0;
      frames_ =
          static_cast<uint16_t>(std::min<uint32_t>(limit_, frames_ + std::max(1u, frames_ / 8u)));
    }
  }

  void on_loss(uint32_t lost, uint32_t in_flight, uint64_t rtt_ns, uint64_t now_ns) noexcept {
    if (slow_ || (lost >= 4 && lost * 4 >= in_flight)) shrink(now_ns, rtt_ns, 2);
  }
  void on_repeated_timeout() noexcept { frames_ = std::max<uint16_t>(floor(), frames_ / 2); }

 private:
  uint16_t floor() const noexcept { return std::min<uint16_t>(kFloorFrames, limit_); }
  /// By an eighth (3) or a quarter (2), once per round trip.
  void shrink(uint64_t now_ns, uint64_t rtt_ns, int shift) noexcept {
    if (now_ns < calm_until_ns_) return;
    calm_until_ns_ = now_ns + rtt_ns;
    frames_ = std::max<uint16_t>(floor(), static_cast<uint16_t>(frames_ - (frames_ >> shift)));
    credit_ = 0;
  }

  uint64_t calm_until_ns_ = 0;
  uint16_t frames_ = 0;
  uint16_t limit_ = 0;
  uint16_t credit_ = 0;
  bool slow_ = false;
};
static_assert(sizeof(CongestionWindow) == 16);

}  // namespace pinwire
