// How long to wait for an acknowledgement: RFC 6298's estimator in nanoseconds, with powers of two
// for its factors, so that no sample costs a division.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/base/random.h"

namespace pinwire {

struct RtoLimits {
  uint64_t min_ns;
  uint64_t max_ns;
};

class RttEstimate {
 public:
  static constexpr uint64_t kFirstRtoNs = 1'000'000;  ///< before any sample

  /// `is_sure`: the frame was not sent earlier than it bears.
  void sample(uint64_t rtt_ns, bool is_sure = true) noexcept {
    auto rtt = static_cast<uint32_t>(std::min<uint64_t>(rtt_ns, kLimitNs));
    if (smoothed_ns_ == 0) {
      smoothed_ns_ = std::max(rtt, 1u);
      variation_ns_ = rtt / 2;
      if (is_sure) least_ns_ = smoothed_ns_;
      return;
    }
    // Where acknowledgements are lost a sample can be any number of timeouts too long: none counts
    // for more than about twice what is known. A path that has become slower is still learnt in a
    // few.
    rtt = std::min(rtt, 2 * smoothed_ns_ + kStepNs);
    const uint32_t error = rtt > smoothed_ns_ ? rtt - smoothed_ns_ : smoothed_ns_ - rtt;
    variation_ns_ = variation_ns_ - variation_ns_ / 4 + error / 4;
    smoothed_ns_ = std::max(smoothed_ns_ - smoothed_ns_ / 8 + rtt / 8, 1u);
    if (!is_sure) return;
    const uint32_t least = least_ns_ != 0 ? std::min(faded_least_ns(rtt), rtt) : rtt;
    least_ns_ = std::max(least, 1u);
  }

  /// The peer took `wait_ns` to acknowledge a frame: its host computed meanwhile, or polls rarely.
  /// The longest wait counts, and fades: a peer that was late will be late again.
  void waited(uint64_t wait_ns) noexcept {
    const auto wait = static_cast<uint32_t>(std::min<uint64_t>(wait_ns, kLimitNs));
    waited_ns_ = std::max(wait, waited_ns_ - waited_ns_ / 8);
  }

  /// Does an acknowledgement that came so long after a repetition answer the repetition? If not,
  /// the frame had not been lost: the peer was late.
  bool is_answer(uint64_t took_ns) const noexcept {
    return known() && took_ns >= least_ns() && took_ns <= 2 * uint64_t{smoothed_ns_};
  }

  bool known() const noexcept { return smoothed_ns_ != 0; }
  uint64_t smoothed_ns() const noexcept { return smoothed_ns_; }
  /// While no sample was sure, half of what is usual.
  uint64_t least_ns() const noexcept { return least_ns_ != 0 ? least_ns_ : smoothed_ns_ / 2; }

  /// When a frame that others have overtaken is late.
  uint64_t overtaken_ns() const noexcept {
    return std::min<uint64_t>(smoothed_ns_, 8 * least_ns() + kStepNs);
  }

  /// Without back-off. However long the peer once computed, a frame that is lost afterwards waits
  /// no longer than the limit.
  uint64_t rto_ns(const RtoLimits& limits) const noexcept {
    const uint64_t wanted =
        known() ? uint64_t{smoothed_ns_} + 4 * uint64_t{variation_ns_} : kFirstRtoNs;
    const uint64_t patient = uint64_t{waited_ns_} + waited_ns_ / 4;
    return std::clamp(std::max(wanted, patient), limits.min_ns, limits.max_ns);
  }

  /// After `timeouts` in a row: doubled for each, up to the maximum, and up to an eighth more, so
  /// that peers that lost the same burst do not repeat it together.
  uint64_t backed_off_ns(const RtoLimits& limits, uint32_t timeouts,
                         Random& random) const noexcept {
    const uint64_t base = rto_ns(limits);
    if (timeouts == 0) return base;
    const uint64_t doubled =
        std::max(std::min(base << std::min(timeouts, 20u), limits.max_ns), base);
    return doubled + (doubled * (random.next() & 0xff) >> 11);
  }

 private:
  /// A path that has become slower, because a cable failed or a host moved, is not held to its best
  /// time for ever: the least follows by a small part of what each sample is above it.
  uint32_t faded_least_ns(uint32_t rtt) const noexcept {
    return rtt > least_ns_ ? least_ns_ + (rtt - least_ns_) / kFade : least_ns_;
  }

  static constexpr uint32_t kFade = 4096;
  static constexpr uint64_t kLimitNs = 1'000'000'000;
  static constexpr uint32_t kStepNs = 50'000;
  uint32_t smoothed_ns_ = 0;
  uint32_t variation_ns_ = 0;
  uint32_t least_ns_ = 0;
  uint32_t waited_ns_ = 0;
};
static_assert(sizeof(RttEstimate) == 16);

}  // namespace pinwire
