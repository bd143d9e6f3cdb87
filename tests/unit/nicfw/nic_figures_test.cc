// The figures that a NIC gives of itself.
#include <gtest/gtest.h>

#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

TEST(NicFigures, WhatOneRankHasSentTheOtherHasReceived) {
  NicGroup group({});
  const auto source = byte_pattern(100'000);
  std::vector<uint8_t> target(source.size());
  const Region region = group.pin(1, target.data(), target.size());
  const uint64_t word = 5;
  ASSERT_TRUE(
      group.post(0, put_work(1, source.data(), source.size(), target.data(), region.remote_key)));
  ASSERT_TRUE(group.post(0, send_work(1, MessageClass::kRequest, &word, sizeof word)));
  group.run(100, 0, 10'000);
  ASSERT_EQ(group.dones(0).size(), 1u);
  for (const uint32_t rank : {0u, 1u}) {
    EXPECT_GT(group.stat(rank, "frames_received"), 0u);
    EXPECT_EQ(group.stat(rank, "frames_received"), group.stat(1 - rank, "frames_sent"));
    EXPECT_EQ(group.stat(rank, "bytes_received"), group.stat(1 - rank, "bytes_sent"));
  }
  EXPECT_GT(group.stat(1, "bytes_received"), source.size());
}

}  // namespace
}  // namespace pinwire
