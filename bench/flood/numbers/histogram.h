// Latencies in fixed memory: 128 linear buckets for each power of two, so a percentile is within
// 0.8 % of the truth, whatever the range. Recording costs a few instructions and never allocates.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace pinwire::flood {

class Histogram {
 public:
  Histogram() : counts_(kBuckets) {}

  void record(uint64_t value, uint64_t times = 1) noexcept {
    counts_[bucket_of(value)] += times;
    count_ += times;
  }
  void clear() noexcept {
    counts_.assign(kBuckets, 0);
    count_ = 0;
  }
  uint64_t count() const noexcept { return count_; }

  /// The smallest value such that at least `fraction` of those recorded are not above it, to the
  /// middle of its bucket; 0 when nothing was recorded.
  double percentile(double fraction) const noexcept;

  static constexpr uint64_t kLinearBits = 7;
  static constexpr uint64_t kLinear = uint64_t{1} << kLinearBits;
  static constexpr uint64_t kBuckets = (64 - kLinearBits + 1) * kLinear;

  static constexpr uint64_t bucket_of(uint64_t value) noexcept {
    if (value < kLinear) return value;
    const auto octave = static_cast<uint64_t>(std::bit_width(value)) - kLinearBits;  // >= 1
    return octave * kLinear + ((value >> (octave - 1)) - kLinear);
  }
  /// The smallest value of the bucket.
  static constexpr uint64_t floor_of(uint64_t bucket) noexcept {
    const uint64_t octave = bucket / kLinear;
    const uint64_t step = bucket % kLinear;
    return octave == 0 ? step : (kLinear + step) << (octave - 1);
  }
  /// How many values share the bucket.
  static constexpr uint64_t width_of(uint64_t bucket) noexcept {
    const uint64_t octave = bucket / kLinear;
    return octave == 0 ? 1 : uint64_t{1} << (octave - 1);
  }

 private:
  std::vector<uint64_t> counts_;
  uint64_t count_ = 0;
};

}  // namespace pinwire::flood
