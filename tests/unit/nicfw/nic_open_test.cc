// A NIC from open() to close(): its limits, its capabilities, and its end, which leaves nothing
// attached.
#include <gtest/gtest.h>

#include "nicfw/wire/bytes.h"
#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

bool opens(uint32_t frame_bytes_max) {
  ManualClock clock;
  LoopPort port(1, frame_bytes_max, 16);
  return make_nic(port, clock, {})->open({.rank = 0, .rank_count = 1}).ok();
}

TEST(NicOpen, TakesFramesOf512To16000Bytes) {
  EXPECT_FALSE(opens(511));
  EXPECT_TRUE(opens(512));
  EXPECT_TRUE(opens(16'000));
  EXPECT_FALSE(opens(16'001));
}

TEST(NicOpen, ConnectsToAPeerWhosePortIsTheSmallestThatOpens) {
  ManualClock clock;
  LoopPort port(1), smallest(2, 512);
  smallest.join(port);
  const auto nic = make_nic(port, clock, {}), peer = make_nic(smallest, clock, {});
  ASSERT_TRUE(nic->open({.rank = 0, .rank_count = 2}).ok());
  ASSERT_TRUE(peer->open({.rank = 1, .rank_count = 2}).ok());
  auto address = peer->address();
  store_little<uint16_t>(&address[14], 511);
  EXPECT_FALSE(nic->connect(1, address).ok());
  EXPECT_TRUE(nic->connect(1, peer->address()).ok());
}

TEST(NicOpen, APeerWithAnotherNumberOfLanesIsRefusedWithBothNumbers) {
  ManualClock clock;
  LoopPort port(1, 1514, 16, 3), other(2, 1514, 16, 3);
  const auto nic = make_nic(port, clock, {}), peer = make_nic(other, clock, {});
  ASSERT_TRUE(nic->open({.rank = 0, .rank_count = 2, .lanes = 1}).ok());
  ASSERT_TRUE(peer->open({.rank = 1, .rank_count = 2, .lanes = 3}).ok());
  const Status refused = nic->connect(1, peer->address());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.sentence().find("rank 1 has 3 lanes, this rank 1"), std::string::npos)
      << refused.sentence();
}

TEST(NicOpen, APeerThatIsAuthenticatedOtherwiseIsRefused) {
  for (const FrameAuth own : {FrameAuth::kFull, FrameAuth::kHeader}) {
    for (const FrameAuth others : {FrameAuth::kFull, FrameAuth::kHeader}) {
      ManualClock clock;
      LoopPort port(1), other(2);
      const auto nic = make_nic(port, clock, {.auth = own});
      const auto peer = make_nic(other, clock, {.auth = others});
      ASSERT_TRUE(nic->open({.rank = 0, .rank_count = 2}).ok());
      ASSERT_TRUE(peer->open({.rank = 1, .rank_count = 2}).ok());
      EXPECT_EQ(nic->connect(1, peer->address()).ok(), own == others);
    }
  }
}

/// The layers above choose protocols by these.
TEST(NicOpen, SaysWhatItCanDo) {
  NicGroup group({.frame_bytes_max = 9014});
  const Caps caps = group.nic(0).caps();
  EXPECT_EQ(caps.mtu_bytes, 9014u);
  EXPECT_EQ(caps.inline_bytes_max, 256u);
  EXPECT_GT(caps.eager_bytes_max, 8'000u);
  EXPECT_GT(caps.copied_bytes_max, caps.eager_bytes_max);
  EXPECT_EQ(caps.put_bytes_max, uint64_t{1} << 30);
  EXPECT_GT(caps.scatter_bytes_max, 8'000u);
  EXPECT_TRUE(caps.exposes);
  EXPECT_TRUE(caps.atomics_meet_cpu);
  EXPECT_TRUE(caps.in_place_rx);
  EXPECT_TRUE(caps.tells_service);
  EXPECT_TRUE(caps.zero_copy_tx);
  EXPECT_EQ(caps.lent_bytes_max, caps.send_bytes_max - kHeadBytesMax);
}

TEST(NicOpen, ClosesOnceAndLeavesNothingAttached) {
  ManualClock clock;
  LoopPort port(1);
  std::vector<uint8_t> memory(100);
  {
    const auto nic = make_nic(port, clock, {});
    ASSERT_TRUE(nic->open({.rank = 0, .rank_count = 2}).ok());
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(nic->pin(memory.data(), memory.size(), -1, 0).ok());
    EXPECT_EQ(port.attachments(), 4) << "the frames, too";
    nic->close();
    EXPECT_EQ(port.attachments(), 0);
  }
  EXPECT_EQ(port.attachments(), 0);
}

}  // namespace
}  // namespace pinwire
