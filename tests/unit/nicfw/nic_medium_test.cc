// The two protections of a frame's bytes: keyed hashes, or a medium that is memory of one host.
#include <gtest/gtest.h>

#include "nicfw/wire/wire.h"
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

class EachMedium : public testing::TestWithParam<bool> {};

/// An idle link that loses nothing repeats nothing, however late its ranks are.
TEST_P(EachMedium, NothingIsRepeatedToAPeerThatIsLate) {
  const bool is_memory = GetParam();
  NicGroup group({.config = {.coalesce = false}, .memory_medium = {is_memory, is_memory}});
  const auto source = byte_pattern(1 << 16);
  std::vector<uint8_t> target(source.size());
  const Region region = group.pin(1, target.data(), target.size());
  uint64_t word = 0;
  for (int late = 0; late < 20; ++late) {
    ASSERT_TRUE(group.post(0, send_work(1, MessageClass::kRequest, &word, 8)));
    ASSERT_TRUE(
        group.post(0, put_work(1, source.data(), source.size(), target.data(), region.remote_key)));
    ++word;
    for (int i = 0; i < 1'000; ++i) {
      group.poll(0);
      group.clock().advance(30'000);
    }
    EXPECT_EQ(group.run(50, 1, 100), std::vector<uint64_t>{word - 1});
    EXPECT_EQ(group.dones(0).size(), 1u);
    EXPECT_TRUE(group.nic(0).drained(0));
  }
  EXPECT_EQ(source, target);
  EXPECT_GE(group.stat(0, "late_asks"), 2u);
  for (const Rank rank : {Rank{0}, Rank{1}}) {
    EXPECT_EQ(group.stat(rank, "retransmits"), 0u);
    EXPECT_EQ(group.stat(rank, "timeouts"), 0u);
    EXPECT_EQ(group.stat(rank, "rx_drop_duplicate"), 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Each, EachMedium, testing::Bool(),
                         [](const auto& medium) { return medium.param ? "memory" : "network"; });

/// Two acknowledgements may come of polls before the one that finds the late frame, and the
/// question behind it: once they passed for an answer (1 repeat in 120 runs of GASNet-EX's testam).
TEST(Medium, AcknowledgementsThatWereNotAskedForAreNoAnswer) {
  NicGroup group({.config = {.coalesce = false}, .memory_medium = {true, true}});
  const uint64_t word = 42;
  uint64_t source = 1, target = 0;
  const Region region = group.pin(1, &target, sizeof target);
  for (int i = 0; i < 96; ++i) {
    ASSERT_TRUE(group.post(0, send_work(1, MessageClass::kReply, &word, 8)));
  }
  ASSERT_TRUE(group.post(0, put_work(1, &source, sizeof source, &target, region.remote_key)));
  while (group.stat(0, "late_asks") < 2) {
    group.clock().advance(10'000);
    group.poll(0);
  }
  for (int burst = 0; burst < 2; ++burst) {
    EXPECT_EQ(group.poll(1).size(), 32u);
    group.poll(0);
  }
  ASSERT_EQ(target, 0u) << "the put waits behind two bursts";
  for (int polls = 0; polls < 1'000; ++polls) {
    group.clock().advance(30'000);
    group.poll(0);
  }
  group.run(20, 1, 1'000);
  EXPECT_EQ(target, source);
  EXPECT_EQ(group.stat(0, "retransmits"), 0u);
  EXPECT_EQ(group.stat(1, "rx_drop_duplicate"), 0u);
  EXPECT_EQ(group.dones(0).size(), 1u);
  EXPECT_TRUE(group.nic(0).drained(0));
}

/// A frame that a peer refuses, or that a port loses in spite of all, is sent again once the peer
/// has answered.
TEST(Medium, WhatIsMissingThroughMemoryIsRepeatedAfterAQuestion) {
  NicGroup group({.memory_medium = {true, true}});
  const uint64_t word = 42;
  group.set_faults({.loss = 1});
  ASSERT_TRUE(group.post(0, send_work(1, MessageClass::kRequest, &word, 8)));
  group.set_faults({});
  EXPECT_EQ(group.run(2'000, 1, 10'000), std::vector<uint64_t>{word});
  EXPECT_EQ(group.stat(0, "late_asks"), 1u);
  EXPECT_EQ(group.stat(0, "retransmits"), 1u);
  EXPECT_TRUE(group.nic(0).drained(0));
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
