#include "bench/flood/numbers/sampler.h"

#include <gtest/gtest.h>

namespace pinwire::flood {
namespace {

TEST(Sampler, ThePriceOfTheStampIsSubtracted) {
  Sampler sampler({.ns_per_cycle = 0.5, .stamp_ns = 20}, 1);
  sampler.record(2040);  // 1020 ns with the stamp
  EXPECT_NEAR(sampler.percentile_us(0.5), 1.0, 0.01);
}

TEST(Sampler, ABatchIsTheMeanOfItsOperations) {
  Sampler sampler({.ns_per_cycle = 1, .stamp_ns = 10}, 256);
  sampler.record(512 + 10);
  EXPECT_NEAR(sampler.percentile_us(0.99), 0.002, 0.00002);
}

TEST(Sampler, AStampThatCostMoreThanItMeasuredIsZero) {
  Sampler sampler({.ns_per_cycle = 1, .stamp_ns = 10}, 1);
  sampler.record(9);
  EXPECT_EQ(sampler.percentile_us(0.5), 0);
}

TEST(Sampler, OneSampleForEachBatch) {
  Sampler sampler({.ns_per_cycle = 1, .stamp_ns = 0}, 4);
  EXPECT_EQ(sampler.batch(), 4u);
  EXPECT_EQ(sampler.count(), 0u);
  for (int i = 0; i < 3; ++i) {
    sampler.begin();
    sampler.end();
  }
  EXPECT_EQ(sampler.count(), 3u);
}

}  // namespace
}  // namespace pinwire::flood
