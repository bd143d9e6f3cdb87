#include "pin/strategy.h"

#include <gtest/gtest.h>

namespace pinwire {
namespace {

constexpr Caps kPinsOnly{.hw_rdma = true, .needs_local_key = true};
constexpr Caps kExposes{.exposes = true};

TEST(Strategy, FastIsAlwaysPinned) {
  for (const Caps& caps : {kPinsOnly, kExposes}) {
    for (const bool fits : {true, false}) {
      EXPECT_EQ(publication(SegmentKind::kFast, caps, fits), Publication::kPinned);
    }
  }
}

TEST(Strategy, LargeIsPinnedWhereItFits) {
  EXPECT_EQ(publication(SegmentKind::kLarge, kPinsOnly, true), Publication::kPinned);
  EXPECT_EQ(publication(SegmentKind::kLarge, kExposes, true), Publication::kPinned);
  EXPECT_EQ(publication(SegmentKind::kLarge, kExposes, false), Publication::kExposed);
  EXPECT_EQ(publication(SegmentKind::kLarge, kPinsOnly, false), Publication::kWithheld);
}

TEST(Strategy, WhatADevicePagesIsAllMemoryNeverALargeSegment) {
  constexpr Caps kPages{
      .hw_rdma = true, .on_demand_paging = true, .exposes = true, .needs_local_key = true};
  EXPECT_EQ(publication(SegmentKind::kFast, kPages, false), Publication::kPinned);
  EXPECT_EQ(publication(SegmentKind::kLarge, kPages, true), Publication::kPinned);
  EXPECT_EQ(publication(SegmentKind::kLarge, kPages, false), Publication::kWithheld);
  EXPECT_EQ(publication(SegmentKind::kEverything, kPages, false), Publication::kExposed);
}

TEST(Strategy, EverythingIsNeverPinned) {
  for (const bool fits : {true, false}) {
    EXPECT_EQ(publication(SegmentKind::kEverything, kExposes, fits), Publication::kExposed);
    EXPECT_EQ(publication(SegmentKind::kEverything, kPinsOnly, fits), Publication::kWithheld);
  }
}

}  // namespace
}  // namespace pinwire
