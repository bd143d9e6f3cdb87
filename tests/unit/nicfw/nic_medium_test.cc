// The two protections of a frame's bytes: keyed hashes, or a medium that is memory of one host.
#include <gtest/gtest.h>

#include "nicfw/wire.h"
#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

TEST(Medium, FramesThroughMemoryAreNotHashedAndArrive) {
  NicGroup group({.memory_medium = {true, true}});
  const auto source = byte_pattern(5000);
  std::vector<uint8_t> target(source.size());
  const Region region = group.pin(1, target.data(), target.size());
  ASSERT_TRUE(
      group.post(0, put_work(1, source.data(), source.size(), target.data(), region.remote_key)));
  for (uint32_t i = 0; i < group.port(1).waiting(); ++i) {
    const std::byte* frame = group.port(1).peek(i).data();
    EXPECT_EQ(load_little<uint64_t>(frame + 80), 0u);  // wire.h: the hash of the body
    EXPECT_EQ(load_little<uint16_t>(frame + 70), load_little<uint16_t>(frame + 68));  // no body
  }
  group.run(20);
  EXPECT_EQ(source, target);
  EXPECT_EQ(group.stat(1, "rx_drop_checksum"), 0u);
}

TEST(Medium, SmallFramesOverAWireAreUnderTheTagAsAWhole) {
  NicGroup group({});
  const uint64_t word = 42;
  ASSERT_TRUE(group.post(0, send_work(1, MessageClass::kRequest, &word, 8)));
  const auto frame = group.port(1).peek();
  EXPECT_EQ(load_little<uint16_t>(frame.data() + 70), load_little<uint16_t>(frame.data() + 68));
  EXPECT_EQ(load_little<uint16_t>(frame.data() + 70), frame.size() - kRecordsOffset);
}

TEST(Medium, AFrameThatIsNotHashedIsRefusedWhereNothingVouchesForIt) {
  NicGroup group({.memory_medium = {true, false}});
  const uint64_t word = 42;
  ASSERT_TRUE(group.post(0, send_work(1, MessageClass::kRequest, &word, 8)));
  EXPECT_EQ(group.poll(1), std::vector<uint64_t>{});
  EXPECT_EQ(group.stat(1, "rx_drop_tag"), 1u);
}

TEST(Medium, AStrangersFrameIsRefusedThroughMemoryToo) {
  NicGroup group({.memory_medium = {true, true}});
  const uint64_t word = 42;
  ASSERT_TRUE(group.post(0, send_work(1, MessageClass::kRequest, &word, 8)));
  group.port(1).peek()[88] ^= std::byte{1};  // wire.h: the tag
  EXPECT_EQ(group.poll(1), std::vector<uint64_t>{});
  EXPECT_EQ(group.stat(1, "rx_drop_tag"), 1u);
}

}  // namespace
}  // namespace pinwire
