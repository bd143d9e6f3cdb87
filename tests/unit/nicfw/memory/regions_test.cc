#include "nicfw/memory/regions.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "tests/support/loop_port.h"

namespace pinwire {
namespace {

struct RegionsTest : testing::Test {
  RegionsTest() : port(1, 1514, 8) { regions.make(7, 0); }
  Region pin(void* base, uint64_t bytes) { return regions.pin(port, base, bytes).value(); }
  LoopPort port;
  Regions regions;
  std::vector<std::byte> memory = std::vector<std::byte>(4096);
};

TEST_F(RegionsTest, BoundsAreExact) {
  const Region region = pin(memory.data() + 8, 100);
  const uint64_t base = region.base;
  EXPECT_NE(regions.find(region.remote_key, base, 100), nullptr);
  EXPECT_NE(regions.find(region.remote_key, base + 99, 1), nullptr);
  EXPECT_EQ(regions.find(region.remote_key, base, 101), nullptr);
  EXPECT_EQ(regions.find(region.remote_key, base - 1, 1), nullptr);
  EXPECT_EQ(regions.find(region.remote_key, base + 100, 1), nullptr);
  EXPECT_EQ(regions.find(region.remote_key, base + 1, ~uint64_t{0}), nullptr);
  EXPECT_EQ(regions.find(region.remote_key, ~uint64_t{0}, 2), nullptr);
}

TEST_F(RegionsTest, ExposedMemoryMayBeAllThereIsAndHasNoLocalKey) {
  const Region region = regions.expose(nullptr, ~uint64_t{0}).value();
  EXPECT_EQ(region.local_key, kNoRegion);
  EXPECT_EQ(region.base, 0u);
  EXPECT_NE(regions.find(region.remote_key, 0, 1), nullptr);
  EXPECT_NE(regions.find(region.remote_key, ~uint64_t{0} - 8, 8), nullptr);
  EXPECT_EQ(regions.find(region.remote_key, ~uint64_t{0} - 7, 9), nullptr) << "it wraps around";
  EXPECT_EQ(regions.find(region.remote_key)->port_key, 0u) << "the port has no part in it";
  EXPECT_FALSE(regions.expose(memory.data(), ~uint64_t{0}).ok());
  ASSERT_TRUE(regions.unpin(port, region).ok());
  EXPECT_EQ(regions.find(region.remote_key), nullptr);
}

TEST_F(RegionsTest, AnyOtherKeyIsRefused) {
  const Region region = pin(memory.data(), 64);
  for (uint32_t bit = 0; bit < 32; ++bit) {
    EXPECT_EQ(regions.find(region.remote_key ^ (1u << bit), region.base, 8), nullptr) << bit;
  }
  EXPECT_EQ(regions.find(kNoRegion, 0, 0), nullptr);
}

TEST_F(RegionsTest, AKeyDiesWithItsRegion) {
  const Region region = pin(memory.data(), 64);
  ASSERT_TRUE(regions.unpin(port, region).ok());
  EXPECT_EQ(regions.find(region.remote_key, region.base, 8), nullptr);
  const Status again = regions.unpin(port, region);
  EXPECT_FALSE(again.ok());
  std::set<uint32_t> keys{region.remote_key};
  for (int i = 0; i < 10'000; ++i) {
    const Region next = pin(memory.data(), 64);
    EXPECT_EQ(regions.find(region.remote_key), nullptr) << i;
    ASSERT_TRUE(regions.unpin(port, next).ok());
    keys.insert(next.remote_key);
  }
  EXPECT_GT(keys.size(), 9'900u);
}

TEST_F(RegionsTest, AFullTableSaysSo) {
  std::vector<Region> pinned;
  for (uint32_t i = 0; i < Regions::kCount; ++i) pinned.push_back(pin(memory.data(), 64));
  const auto refused = regions.pin(port, memory.data(), 64);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.sentence().find("region entries are in use"), std::string::npos);
  ASSERT_TRUE(regions.unpin(port, pinned[17]).ok());
  EXPECT_TRUE(regions.pin(port, memory.data(), 64).ok());
}

TEST_F(RegionsTest, NonsenseIsRefused) {
  EXPECT_FALSE(regions.pin(port, memory.data(), 0).ok());
  EXPECT_FALSE(regions.pin(port, memory.data(), ~uint64_t{0}).ok());
}

}  // namespace
}  // namespace pinwire
