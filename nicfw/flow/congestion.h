// How many frames may be in flight to one peer: a window that is steered by delay, after Swift
// (Kumar et al., SIGCOMM 2020, sections 3.1 to 3.3).
//
// The delay is the fabric's alone: the receiver says how long an acknowledgement waited in its
// host, the sender takes off the gap between its own polls. It is compared with a fixed target, so
// that a flow that starts behind a queue takes its share and not the queue for the path. Flow
// scaling makes the target of a small window larger: flows with little of a bottleneck grow, flows
// with much shrink, until they have equal parts.
//
// Four things differ from Swift:
//  - The increase is an eighth of a small window, not a whole frame: with 64 flows of 9,014-byte
//    frames, a frame each per round trip would be the whole buffer of a switch's output.
//  - Delay alone shrinks the window to one frame, never below. A window below one frame, of which
//    each frame waits for its time (pace_ns()), takes a loss while there is a queue: proof that
//    even one frame of each flow overflows a buffer.
//  - The target is for a queue, on top of what the path takes when it is idle (a long line, a
//    virtual machine's switch). That is learned only while both ends have little to carry, from a
//    frame or two: who starts behind a queue finds the receiver busy, and does not take the queue
//    for the path, but the shortest path to another peer until it knows better. No path is longer
//    than a whole round trip was.
//  - A path that was never seen idle, and whose delay is above the target without this sender's
//    doing, would hold it at one frame for ever. A sender that was held there for many round trips
//    raises its target to what it sees (patience), and lowers it again when the delay is gone.
// Loss alone is no sign of congestion (links damage frames): it counts when there is a queue, too,
// or when a round trip lost an eighth of its frames, which a shallow buffer does without delay.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace pinwire {

/// The signal that steers the window.
enum class CongestionSignal : uint8_t {
  kNone,   ///< nothing: memory between two processes has no queue but the receiver's
  kLoss,   ///< a switch in a process of the same host: its delay tells of the scheduler
  kDelay,  ///< a network
};

class CongestionWindow {
 public:
  static constexpr uint32_t kUnit = 256;  ///< parts of a frame in which the window is counted
  static constexpr uint64_t kTargetNs = 25'000;  ///< on a path that takes 10 us, or is not known
  static constexpr uint64_t kQueueNs = 15'000;   ///< of it
  static constexpr uint64_t kPaceMaxNs = 500'000;
  static constexpr uint64_t kIdleNs = 10'000'000;  ///< after which a window is worth nothing
  static constexpr uint32_t kStartBytes = 18'000;  ///< of the first round trip
  static constexpr uint32_t kFirstFrames = 2;

  /// `limit_frames`: what the receiver's buffers allow. Not controlled: the window is the limit,
  /// always.
  void start(uint32_t limit_frames, uint32_t frame_bytes, CongestionSignal signal) noexcept {
    limit_ = static_cast<uint16_t>(limit_frames);
    first_ = static_cast<uint8_t>(std::clamp(kStartBytes / frame_bytes, kFirstFrames, 64u));
    signal_ = signal;
    path_ = 0;
    quiet_count_ = 0;
    restart();
  }
  bool is_controlled() const noexcept { return signal_ != CongestionSignal::kNone; }
  bool heeds_delay() const noexcept { return signal_ == CongestionSignal::kDelay; }
  /// Frames that may be in flight, one at least.
  uint32_t frames() const noexcept { return std::max(1u, window_ / kUnit); }
  bool is_below_one() const noexcept { return window_ < kUnit; }
  /// From one frame to the next while the window is below one frame.
  uint64_t pace_ns(uint64_t round_trip_ns) const noexcept {
    return std::min(round_trip_ns * kUnit / std::max(window_, 1u), kPaceMaxNs);
  }
  /// The target of a large window.
  uint64_t least_target_ns() const noexcept {
    return std::max(kTargetNs, idle_path_ns() + kQueueNs) + patience_ns_;
  }
  uint64_t target_ns() const noexcept { return least_target_ns() + scaling_ns(); }
  /// The delay of the path when it is idle; 0: not known.
  uint64_t idle_path_ns() const noexcept { return uint64_t{path_} * kPathUnitNs; }

  /// After a pause: the path may be another's by now. Inside a host nobody else has a path, and a
  /// round trip can be as long as many time slices: there the window is whole until it loses.
  void restart() noexcept {
    window_ = std::min<uint32_t>(limit_, heeds_delay() ? first_ : limit_) * kUnit;
    is_starting_ = window_ < limit_ * kUnit;
    acked_ = lost_ = 0;
    is_queued_ = has_shrunk_ = false;
  }

  struct Ack {
    uint32_t frames;         ///< acknowledged
    uint32_t in_flight;      ///< before
    uint64_t delay_ns;       ///< of the fabric, at least; 0: unknown
    uint64_t poll_gap_ns;    ///< by which the delay may have been longer
    uint64_t round_trip_ns;  ///< smoothed, with the hosts' parts
    uint64_t now_ns;
    bool is_quiet = false;    ///< neither end has much to carry
    uint64_t longest_ns = 0;  ///< the delay with all that the hosts may have had of it; 0: unknown
    uint64_t shortest_path_ns = 0;  ///< of the paths to other peers that are known; 0: none is
  };

  void on_ack(const Ack& ack) noexcept {
    if (!is_controlled()) return;
    acked_ = static_cast<uint16_t>(std::min(acked_ + ack.frames, 0xffffu));
    end_round(ack.round_trip_ns, ack.now_ns);
    if (ack.delay_ns != 0 && heeds_delay()) {
      learn_path(ack);
      is_queued_ = ack.delay_ns > least_target_ns();
      if (const uint64_t target = target_ns(); ack.delay_ns > target) return slow_down(ack, target);
      const bool is_short = ack.delay_ns < least_target_ns() - patience_ns_;
      patience_ns_ -= is_short ? (patience_ns_ + 63) / 64 : 0;
    }
    if (ack.delay_ns != 0) rounds_held_ = 0;
    // A window that its sender does not fill says nothing of what the path would carry.
    if (2 * ack.in_flight >= frames()) grow(ack.frames, step_most(ack));
  }

  /// `lost` frames were found to be lost.
  void on_loss(uint32_t lost, uint64_t round_trip_ns, uint64_t now_ns) noexcept {
    if (!is_controlled()) return;
    lost_ = static_cast<uint16_t>(std::min(lost_ + lost, 0xffffu));
    if (is_queued_ || is_heavy_loss()) halve(round_trip_ns, now_ns);
  }

 private:
  static constexpr uint32_t kLeast = kUnit / 16;
  static constexpr uint32_t kLostMin = 3;
  static constexpr uint64_t kRareNs = 10'000;
  static constexpr uint64_t kPathUnitNs = 64;
  static constexpr uint16_t kPathMax = 0xffff;  ///< 4 ms
  static constexpr uint64_t kPathDoubtNs = 10'000;
  static constexpr uint8_t kQuietDelays = 4;
  static constexpr uint8_t kRoundsHeld = 16;  ///< at one frame, before patience
  static constexpr uint64_t kScalingMaxNs = 60'000;

  /// Flow scaling: 60 us for a quarter of a frame, 0 for 64 frames, in between by the inverse of
  /// the square root.
  uint64_t scaling_ns() const noexcept {
    // Element i belongs to a window of 2^i quarters of a frame.
    constexpr uint32_t kQuarter = kUnit / 4;
    constexpr std::array<uint32_t, 9> kScale = {60'000, 41'255, 28'000, 18'627, 12'000,
                                                7'314,  4'000,  1'657,  0};
    if (window_ <= kQuarter) return kScalingMaxNs;
    const auto i = static_cast<uint32_t>(std::bit_width(window_ / kQuarter)) - 1;
    if (i >= kScale.size() - 1) return 0;
    const uint32_t low = kQuarter << i;
    return kScale[i] - uint64_t{kScale[i] - kScale[i + 1]} * (window_ - low) / low;
  }

  static uint16_t path_of(uint64_t ns) noexcept {
    return ns == 0 ? 0 : static_cast<uint16_t>(std::clamp<uint64_t>(ns / kPathUnitNs, 1, kPathMax));
  }

  /// The path is the shortest of several delays without a queue.
  void learn_path(const Ack& ack) noexcept {
    if (path_ == 0) path_ = path_of(ack.shortest_path_ns);
    // The delay without the hosts' parts is exact only where both polled all the time.
    if (path_ != 0 && ack.longest_ns != 0) path_ = std::min(path_, path_of(ack.longest_ns));
    const bool is_exact = ack.longest_ns <= ack.delay_ns + kPathDoubtNs;
    if (!ack.is_quiet || !is_exact || ack.in_flight > kFirstFrames) return;
    const uint16_t delay = path_of(ack.delay_ns);
    quiet_least_ = quiet_count_ == 0 ? delay : std::min(quiet_least_, delay);
    if (++quiet_count_ < kQuietDelays) return;
    quiet_count_ = 0;
    path_ = quiet_least_;
  }

  /// The most that a window may grow in a round trip: a frame for each kRareNs between the sender's
  /// polls, and any number of frames where the delay surely shows no queue. The true delay is at
  /// least `delay_ns`, and at most longer than that by the gap between polls.
  uint32_t step_most(const Ack& ack) const noexcept {
    if (!heeds_delay()) return ~0u;
    if (ack.delay_ns == 0) return kUnit;
    const uint64_t longest_ns = ack.delay_ns + ack.poll_gap_ns;
    const uint64_t spare_ns = least_target_ns() - patience_ns_ - kTargetNs;
    const bool is_free = ack.delay_ns < kTargetNs / 2 + spare_ns;
    if (is_free && longest_ns < kTargetNs * 2 / 3 + spare_ns) return ~0u;
    return kUnit * static_cast<uint32_t>(std::clamp<uint64_t>(ack.poll_gap_ns / kRareNs, 1, 16));
  }

  void grow(uint32_t acked, uint32_t step_most) noexcept {
    const uint32_t limit = limit_ * kUnit;
    if (is_starting_) {
      window_ = std::min(window_ + acked * kUnit, limit);
      return;
    }
    // An eighth of the window per round trip at most; a window is what is acknowledged in one round
    // trip.
    const uint64_t step = std::min(window_ / 8 + 1, step_most);
    const uint64_t share = uint64_t{acked} * kUnit * step / std::max(window_, kUnit);
    window_ =
        static_cast<uint32_t>(std::min<uint64_t>(window_ + std::max<uint64_t>(share, 1), limit));
  }

  void slow_down(const Ack& ack, uint64_t target) noexcept {
    if (!may_shrink(ack.round_trip_ns, ack.now_ns)) return;
    const uint64_t excess_ns = ack.delay_ns - target;
    if (window_ <= kUnit) return be_patient(excess_ns);
    // By four fifths of the excess, by half at most.
    const uint64_t part = std::min<uint64_t>(excess_ns * (kUnit * 4 / 5) / ack.delay_ns, kUnit / 2);
    window_ = std::max<uint32_t>(kUnit, window_ - static_cast<uint32_t>(window_ * part / kUnit));
  }

  void be_patient(uint64_t excess_ns) noexcept {
    if (++rounds_held_ < kRoundsHeld) return;
    rounds_held_ = 0;
    patience_ns_ =
        static_cast<uint32_t>(std::min(patience_ns_ + excess_ns + kScalingMaxNs, kPatienceMaxNs));
  }

  void halve(uint64_t round_trip_ns, uint64_t now_ns) noexcept {
    if (!may_shrink(round_trip_ns, now_ns)) return;
    if (is_queued_) patience_ns_ = 0;
    const uint32_t few = std::max<uint32_t>(kFirstFrames, first_ / 2);
    // Loss without a queue comes from a shallow buffer or from a bad link.
    window_ = std::max(window_ / 2, is_queued_ ? kLeast : few * kUnit);
  }

  bool is_heavy_loss() const noexcept { return lost_ >= kLostMin && lost_ * 8 >= acked_ + lost_; }

  void end_round(uint64_t round_trip_ns, uint64_t now_ns) noexcept {
    if (now_ns < round_ends_ns_) return;
    round_ends_ns_ = now_ns + round_trip_ns;
    acked_ = lost_ = 0;
    has_shrunk_ = false;
  }

  /// Once in a round trip, of which the next one begins here.
  bool may_shrink(uint64_t round_trip_ns, uint64_t now_ns) noexcept {
    is_starting_ = false;
    end_round(0, now_ns);
    if (has_shrunk_) return false;
    round_ends_ns_ = now_ns + round_trip_ns;
    acked_ = lost_ = 0;
    has_shrunk_ = true;
    return true;
  }

  static constexpr uint64_t kPatienceMaxNs = 1'000'000'000;

  uint64_t round_ends_ns_ = 0;
  uint32_t window_ = 0;       ///< in parts of a frame
  uint32_t patience_ns_ = 0;  ///< by which the target is raised
  uint16_t acked_ = 0;        ///< frames, in this round trip
  uint16_t lost_ = 0;
  uint16_t limit_ = 0;
  uint16_t path_ = 0;         ///< idle, in kPathUnitNs; 0: not known
  uint16_t quiet_least_ = 0;  ///< of the last quiet_count_ delays without a queue
  uint8_t rounds_held_ = 0;   ///< round trips in a row at one frame, with too much delay
  uint8_t first_ = kFirstFrames;
  uint8_t quiet_count_ = 0;
  CongestionSignal signal_ = CongestionSignal::kNone;
  bool is_queued_ : 1 = false;    ///< the last delay was above the target of a large window
  bool is_starting_ : 1 = false;  ///< slow start: the window doubles each round trip
  bool has_shrunk_ : 1 = false;   ///< in this round trip
};
static_assert(sizeof(CongestionWindow) <= 32);

}  // namespace pinwire
