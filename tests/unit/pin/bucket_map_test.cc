#include "pin/bucket_map.h"

#include <gtest/gtest.h>

#include <unordered_map>

#include "core/base/random.h"

namespace pinwire {
namespace {

TEST(BucketMap, HoldsWhatAShadowHolds) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    constexpr uint32_t kKeysMax = 100;
    BucketMap map;
    map.open(kKeysMax);
    std::unordered_map<uint64_t, uint32_t> shadow;
    // Few distinct keys, in runs as addresses have them, so that searches collide.
    const auto any_key = [&] { return random.below(2) << 48 | random.below(150); };
    for (uint32_t step = 0; step < 20'000; ++step) {
      const uint64_t key = any_key();
      const auto found = shadow.find(key);
      ASSERT_EQ(map.find(key), found == shadow.end() ? BucketMap::kNone : found->second)
          << "seed " << seed << " step " << step;
      if (found != shadow.end()) {
        map.erase(key);
        shadow.erase(found);
      } else if (shadow.size() < kKeysMax) {
        map.put(key, step);
        shadow[key] = step;
      }
      ASSERT_EQ(map.count(), shadow.size());
    }
  }
}

TEST(BucketMapDeathTest, MoreThanItHasRoomForIsRefused) {
  BucketMap map;
  map.open(2);
  map.put(1, 1);
  map.put(2, 2);
  EXPECT_DEATH(map.put(3, 3), "more buckets than there is room for");
  EXPECT_DEATH(map.erase(4), "that is not there");
}

}  // namespace
}  // namespace pinwire
