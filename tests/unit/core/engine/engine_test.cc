// The engine's lanes and targets, as loops and checks of the layers above see them.
#include "core/engine/engine.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace pinwire {
namespace {

using Lanes = std::vector<std::pair<uint32_t, uint32_t>>;

/// Drivers with 2, 1 and 3 lanes; a fourth is not open.
class Lanes3 : public testing::Test {
 protected:
  void SetUp() override {
    engine.driver_count = 3;
    engine.drivers[0].lane_count = 2;
    engine.drivers[1].lane_count = 1;
    engine.drivers[2].lane_count = 3;
  }
  void TearDown() override {
    engine.driver_count = 0;
    for (uint32_t driver : {0, 1, 2}) engine.drivers[driver].lane_count = 1;
  }
};

TEST_F(Lanes3, AreAllVisitedOnceInOrder) {
  Lanes seen;
  EXPECT_TRUE(engine.visit_lanes([&](uint32_t driver, uint32_t lane) {
    seen.emplace_back(driver, lane);
    return true;
  }));
  EXPECT_EQ(seen, (Lanes{{0, 0}, {0, 1}, {1, 0}, {2, 0}, {2, 1}, {2, 2}}));
}

TEST_F(Lanes3, AreVisitedUntilAVisitSaysNo) {
  Lanes seen;
  EXPECT_FALSE(engine.visit_lanes([&](uint32_t driver, uint32_t lane) {
    seen.emplace_back(driver, lane);
    return driver != 1;
  }));
  EXPECT_EQ(seen, (Lanes{{0, 0}, {0, 1}, {1, 0}}));
}

TEST(Targets, AreEndpointsOfTheRanksOfAnAttachedJob) {
  EXPECT_FALSE(engine.is_target(0)) << "before attach";
  engine.target_count = 3;
  EXPECT_TRUE(engine.is_target(target_of(2, 0)));
  EXPECT_TRUE(engine.is_target(target_of(2, kEndpointsMax - 1)));
  EXPECT_FALSE(engine.is_target(target_of(3, 0)));
  EXPECT_FALSE(engine.is_target(target_of(3, 1)));
  EXPECT_FALSE(engine.is_target(target_of(0, kEndpointsMax)));
  engine.target_count = 0;
}

}  // namespace
}  // namespace pinwire
