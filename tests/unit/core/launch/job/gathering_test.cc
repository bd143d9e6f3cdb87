#include "core/launch/job/gathering.h"

#include <gtest/gtest.h>

namespace pinwire::launch {
namespace {

FrameHeader header(uint32_t round, uint64_t offset, uint64_t total) {
  return bootstrap::chunk_header(bootstrap::frame_header(FrameKind::kGather, 0, round), offset,
                                 total);
}

std::vector<std::byte> bytes(size_t count, int value) {
  return std::vector<std::byte>(count, static_cast<std::byte>(value));
}

TEST(Gathering, IsCompleteWhenEveryRankIs) {
  Gathering gathering(3);
  EXPECT_FALSE(*gathering.add(2, header(1, 0, 5), bytes(5, 2)));
  EXPECT_FALSE(*gathering.add(0, header(1, 0, 0), {}));
  ASSERT_TRUE(*gathering.add(1, header(1, 0, 7), bytes(7, 1)));
  auto all = bootstrap::split_contributions(gathering.take(), 3);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ((*all)[0], bytes(0, 0));
  EXPECT_EQ((*all)[1], bytes(7, 1));
  EXPECT_EQ((*all)[2], bytes(5, 2));
  EXPECT_EQ(gathering.round(), 2U);
}

TEST(Gathering, ChunksOfSeveralRanksMayCross) {
  const uint64_t total = kChunkBytesMax + 10;
  Gathering gathering(2);
  EXPECT_FALSE(*gathering.add(0, header(1, 0, total), bytes(kChunkBytesMax, 3)));
  EXPECT_FALSE(*gathering.add(1, header(1, 0, total), bytes(kChunkBytesMax, 4)));
  EXPECT_FALSE(*gathering.add(0, header(1, kChunkBytesMax, total), bytes(10, 3)));
  EXPECT_TRUE(*gathering.add(1, header(1, kChunkBytesMax, total), bytes(10, 4)));
}

TEST(Gathering, RefusesWhatARankMustNotSend) {
  Gathering gathering(2);
  EXPECT_FALSE(gathering.add(0, header(2, 0, 1), bytes(1, 0)).ok()) << "a round too early";
  ASSERT_TRUE(gathering.add(0, header(1, 0, 1), bytes(1, 0)).ok());
  EXPECT_FALSE(gathering.add(0, header(1, 0, 1), bytes(1, 0)).ok()) << "twice";
  EXPECT_FALSE(
      gathering.add(1, header(1, 0, bootstrap::kContributionBytesMax + 1), bytes(kChunkBytesMax, 0))
          .ok())
      << "too long";
}

}  // namespace
}  // namespace pinwire::launch
