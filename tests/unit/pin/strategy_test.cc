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

TEST(Strategy, EverythingIsNeverPinned) {
  for (const bool fits : {true, false}) {
    EXPECT_EQ(publication(SegmentKind::kEverything, kExposes, fits), Publication::kExposed);
    EXPECT_EQ(publication(SegmentKind::kEverything, kPinsOnly, fits), Publication::kWithheld);
  }
}

}  // namespace
}  // namespace pinwire
