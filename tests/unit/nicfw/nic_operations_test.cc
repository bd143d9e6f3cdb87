// Operations: each flow has one of its own, and no other flow can take it.
#include <gtest/gtest.h>

#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

/// A frame carries many gets: they use up the operations long before the frames.
TEST(NicOperations, AGetFindsOneHoweverManyThoseToSilentRanksHold) {
  constexpr uint32_t kRanks = 32;
  constexpr Rank kAttentive = kRanks - 1;
  NicGroup group({.ranks = kRanks,
                  .rx_buffers = 1024,
                  .config = {.window_frames = 64},
                  .memory_medium = std::vector<bool>(kRanks, true)});
  const uint64_t source = 5;
  uint64_t target = 0;
  const Region region = group.pin(kAttentive, const_cast<uint64_t*>(&source), sizeof source);
  const auto get = [&](Rank from) {
    return get_work(from, &target, sizeof target, &source, region.remote_key);
  };
  uint32_t taken = 0;
  for (Rank rank = 1; rank < kAttentive; ++rank) {
    while (group.post(0, get(rank))) ++taken;
  }
  EXPECT_GE(taken, kRanks - 2);
  ASSERT_TRUE(group.post(0, get(kAttentive)));
  for (int i = 0; i < 4; ++i) {
    group.poll(kAttentive);
    group.poll(0);
  }
  EXPECT_EQ(target, source);
}

}  // namespace
}  // namespace pinwire
