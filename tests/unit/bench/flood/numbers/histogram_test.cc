#include "bench/flood/numbers/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/random.h"

namespace pinwire::flood {
namespace {

TEST(Histogram, BucketsTileTheNumbers) {
  for (uint64_t bucket = 0; bucket + 1 < Histogram::kBuckets; ++bucket) {
    const uint64_t floor = Histogram::floor_of(bucket);
    const uint64_t last = floor + Histogram::width_of(bucket) - 1;
    ASSERT_EQ(Histogram::bucket_of(floor), bucket);
    ASSERT_EQ(Histogram::bucket_of(last), bucket);
    ASSERT_EQ(Histogram::bucket_of(last + 1), bucket + 1);
  }
  EXPECT_EQ(Histogram::bucket_of(UINT64_MAX), Histogram::kBuckets - 1);
}

TEST(Histogram, SmallNumbersAreExact) {
  Histogram histogram;
  for (uint64_t value = 1; value <= 100; ++value) histogram.record(value);
  EXPECT_EQ(histogram.percentile(0.50), 50);
  EXPECT_EQ(histogram.percentile(0.99), 99);
  EXPECT_EQ(histogram.percentile(0.999), 100);
  EXPECT_EQ(histogram.percentile(0), 1);
  EXPECT_EQ(histogram.percentile(1), 100);
}

TEST(Histogram, PercentilesAreWithinOnePercentOfTheSortedSamples) {
  Random random(7);
  Histogram histogram;
  std::vector<uint64_t> samples;
  for (int i = 0; i < 20'000; ++i) {
    const uint64_t value = random.next() >> (8 + random.below(50));
    samples.push_back(value);
    histogram.record(value);
  }
  std::sort(samples.begin(), samples.end());
  for (const double fraction : {0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto rank =
        static_cast<size_t>(std::ceil(fraction * static_cast<double>(samples.size())));
    const auto truth = static_cast<double>(samples[rank - 1]);
    EXPECT_NEAR(histogram.percentile(fraction), truth, truth * 0.01) << fraction;
  }
}

TEST(Histogram, EmptyAndCleared) {
  Histogram histogram;
  EXPECT_EQ(histogram.percentile(0.5), 0);
  histogram.record(9, 3);
  EXPECT_EQ(histogram.count(), 3u);
  histogram.clear();
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.percentile(0.5), 0);
}

}  // namespace
}  // namespace pinwire::flood
