#include "bench/flood/numbers/histogram.h"

#include <cmath>

namespace pinwire::flood {

// The octaves of kLinear steps each: bit widths kLinearBits + 1 … 64.
static_assert(Histogram::bucket_of(UINT64_MAX) == Histogram::kBuckets - 1);
static_assert(Histogram::bucket_of(Histogram::kLinear) == Histogram::kLinear);
static_assert(Histogram::floor_of(Histogram::bucket_of(1u << 20)) == 1u << 20);

double Histogram::percentile(double fraction) const noexcept {
  if (count_ == 0) return 0;
  const auto rank = static_cast<uint64_t>(std::ceil(fraction * static_cast<double>(count_)));
  const uint64_t wanted = rank == 0 ? 1 : rank;
  uint64_t seen = 0;
  for (uint64_t bucket = 0; bucket < kBuckets; ++bucket) {
    seen += counts_[bucket];
    if (seen >= wanted) {
      return static_cast<double>(floor_of(bucket)) + static_cast<double>(width_of(bucket) - 1) / 2;
    }
  }
  return static_cast<double>(floor_of(kBuckets - 1));
}

}  // namespace pinwire::flood
