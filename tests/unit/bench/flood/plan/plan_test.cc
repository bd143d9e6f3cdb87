#include "bench/flood/plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "bench/flood/plan/key_figures.h"

namespace pinwire::flood {
namespace {

constexpr PlanBounds kRoomy = {kSweepBytesMax, 8192, kSweepBytesMax};

size_t count(const std::vector<Measurement>& plan, Pattern test, Operation operation) {
  return static_cast<size_t>(std::count_if(plan.begin(), plan.end(), [&](const Measurement& m) {
    return m.test == test && m.operation == operation;
  }));
}

TEST(Plan, PA017PowersOfTwoFromOneByteTo4MiB) {
  const auto plan = make_plan({}, kRoomy);
  std::set<uint64_t> sizes;
  for (const auto& m : plan) {
    if (m.test == Pattern::kFlood && m.operation == Operation::kPutNb) sizes.insert(m.bytes);
  }
  ASSERT_EQ(sizes.size(), 23u);
  uint64_t expected = 1;
  for (const uint64_t bytes : sizes) {
    EXPECT_EQ(bytes, expected);
    expected *= 2;
  }
  EXPECT_EQ(*sizes.rbegin(), kSweepBytesMax);
}

TEST(Plan, TheKeyFiguresAreThoseOfTheFirstScreenThatTheNetworkCanCarry) {
  const auto plan = make_plan({.depth = 7, .quick = true, .key_figures = true}, kRoomy);
  ASSERT_EQ(plan.size(), kKeyFigures.size());
  for (size_t i = 0; i < plan.size(); ++i) {
    EXPECT_EQ(plan[i].test, kKeyFigures[i].test);
    EXPECT_EQ(plan[i].operation, kKeyFigures[i].operation);
    EXPECT_EQ(plan[i].bytes, kKeyFigures[i].bytes);
    EXPECT_EQ(plan[i].depth, plan[i].test == Pattern::kPingpong ? 1u : 7u);
  }
  const auto narrow = make_plan({.key_figures = true}, {kSweepBytesMax, 256, 4096});
  EXPECT_EQ(narrow.size(), kKeyFigures.size() - 2) << "no Medium AMs of 512 B, no Longs of 1 MiB";
}

TEST(Plan, PA012EveryOperationInBothTests) {
  const auto plan = make_plan({}, kRoomy);
  for (const Pattern test : kPatterns) {
    for (const Operation operation : kOperations) {
      const size_t expected = operation == Operation::kAmShort    ? 1
                              : operation == Operation::kAmMedium ? 14
                                                                  : 23;
      EXPECT_EQ(count(plan, test, operation), expected) << name(test) << ' ' << name(operation);
    }
  }
}

TEST(Plan, NothingBeyondTheBounds) {
  for (const auto& m : make_plan({}, {65536, 512, 1024})) {
    EXPECT_LE(m.bytes, 65536u);
    if (m.operation == Operation::kAmMedium) {
      EXPECT_LE(m.bytes, 512u);
    }
    if (m.operation == Operation::kAmLong) {
      EXPECT_LE(m.bytes, 1024u);
    }
  }
}

TEST(Plan, PA014DepthSweepIsForOverlappedOperationsOnly) {
  const auto plan = make_plan({.sizes = {8}, .depth_sweep = true}, kRoomy);
  EXPECT_EQ(count(plan, Pattern::kFlood, Operation::kPutNb), 9u);
  EXPECT_EQ(count(plan, Pattern::kFlood, Operation::kAmShort), 9u);
  EXPECT_EQ(count(plan, Pattern::kFlood, Operation::kPutBlocking), 1u);
  EXPECT_EQ(count(plan, Pattern::kPingpong, Operation::kPutNb), 1u);
  EXPECT_EQ(plan.back().depth, 256u);
}

TEST(Plan, DepthSweepTakesFewSizesUnlessTold) {
  std::set<uint64_t> sizes;
  for (const auto& m : make_plan({.depth_sweep = true}, kRoomy)) sizes.insert(m.bytes);
  EXPECT_EQ(sizes, (std::set<uint64_t>{0, 8, 512, 4096, 65536, 1u << 20}));
}

TEST(Plan, QuickKeepsBothEndsAndEightBytes) {
  const auto plan = make_plan({.quick = true}, kRoomy);
  for (const uint64_t bytes : {uint64_t{1}, uint64_t{8}, kSweepBytesMax}) {
    EXPECT_TRUE(std::any_of(plan.begin(), plan.end(), [&](const Measurement& m) {
      return m.operation == Operation::kGetNbi && m.bytes == bytes;
    })) << bytes;
  }
  EXPECT_LT(plan.size(), make_plan({}, kRoomy).size() / 2);
}

TEST(Plan, PA011TenThousandIterationsUnlessBytesOrTimeForbid) {
  const LoopLimits limits;
  EXPECT_EQ(iterations_for(limits, 8, 1e-6), 10000u);
  EXPECT_EQ(iterations_for(limits, 8, 20e-6), 10000u) << "Table 1 is in full on slow networks too";
  EXPECT_NEAR(static_cast<double>(iterations_for(limits, 64, 20e-6)), 2000, 1) << "0.04 s";
  EXPECT_EQ(iterations_for(limits, 1u << 20, 1e-9), 64u) << "64 MiB";
  EXPECT_EQ(iterations_for(limits, 4u << 20, 10.0), kIterationsMin);
  EXPECT_EQ(iterations_for({.iterations = 2}, 4u << 20, 10.0), 2u);
  EXPECT_EQ(iterations_for(limits, 0, 0), 10000u);
}

TEST(Plan, SlowNetworksGetFewerRepetitions) {
  const LoopLimits limits = {.measurement_seconds_max = 1, .repetitions = 9};
  EXPECT_TRUE(once_more(limits, 0, 0));
  EXPECT_TRUE(once_more(limits, 2, 100)) << "a median needs three";
  EXPECT_FALSE(once_more(limits, 3, 1));
  EXPECT_TRUE(once_more(limits, 8, 0.9));
  EXPECT_FALSE(once_more(limits, 9, 0));
  EXPECT_FALSE(once_more({.repetitions = 1}, 1, 0));
}

TEST(Plan, StampsCostAtMostTwoPercentOfWhatTheyMeasure) {
  EXPECT_EQ(stamp_batch(1000, 10), 1u);
  EXPECT_EQ(stamp_batch(50, 10), 1u);
  const uint32_t batch = stamp_batch(2, 10);
  EXPECT_EQ(batch, 256u);
  EXPECT_GE(2.0 * batch, 50 * 10);
  EXPECT_EQ(stamp_batch(0, 10), 1024u);
  EXPECT_EQ(stamp_batch(0, 0), 1u);
}

}  // namespace
}  // namespace pinwire::flood
