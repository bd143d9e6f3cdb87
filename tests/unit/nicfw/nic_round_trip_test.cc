// The lane learns of a path from frames of which it is certain when they were sent.
#include <gtest/gtest.h>

#include "tests/support/nic_group.h"
#include "tests/unit/nicfw/nic_words.h"

namespace pinwire {
namespace {

constexpr uint64_t kRoundTripNs = 100'000;

bool send_one(NicGroup& group) { return group.post(0, send_work(1, kRequest, &kWord, 8)); }

/// Rank 0 polls each microsecond, and rank 1 once, at the end.
void answer_after(NicGroup& group, uint64_t ns) {
  for (uint64_t passed = 0; passed < ns; passed += 1'000) {
    group.clock().advance(1'000);
    group.poll(0);
  }
  group.poll(1);
  group.poll(1);
  group.run(2);
}

TEST(NicRoundTrip, IsNotMeasuredOnRepeatedFrames) {
  NicGroup group({});
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(send_one(group));
    answer_after(group, kRoundTripNs);
  }
  // Each answer comes just after the repetition, and might belong to the first copy.
  for (int i = 0; i < 100; ++i) {
    const uint64_t repeats = group.stat(0, "retransmits");
    ASSERT_TRUE(send_one(group));
    group.port(1).lose_waiting();
    for (int polls = 0; group.stat(0, "retransmits") == repeats; ++polls) {
      ASSERT_LT(polls, 1'000'000);
      group.clock().advance(20'000);
      group.poll(1);
      group.poll(0);
    }
    answer_after(group, 1'000);
  }
  const uint64_t asks = group.stat(0, "late_asks");
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(send_one(group));
    answer_after(group, kRoundTripNs);
  }
  EXPECT_EQ(group.stat(0, "late_asks"), asks) << "asked before a round trip had passed";
}

/// A new peer computes for 400 ms with three frames in its ring, and acknowledges the first one
/// alone. The others waited as long as that one, and tell no more of the path.
TEST(NicRoundTrip, IsNotMeasuredOnFramesThatWaitedForAPeerThatWasAsked) {
  NicGroup group({.config = {.coalesce = false}});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(send_one(group));
  group.poll(0);
  ASSERT_EQ(group.port(1).waiting(), 3u);
  for (int i = 0; i < 40'000; ++i) {
    group.clock().advance(10'000);
    group.poll(0);
  }
  std::vector<std::vector<std::byte>> rest;
  const auto first = group.port(1).take_first();
  while (group.port(1).waiting() != 0) rest.push_back(group.port(1).take_first());
  const auto deliver = [&](const std::vector<std::byte>& frame) {
    ASSERT_TRUE(group.port(1).inject(frame.data(), static_cast<uint32_t>(frame.size())));
  };
  deliver(first);
  ASSERT_EQ(group.poll(1).size(), 1u);
  group.poll(1);
  for (const auto& frame : rest) deliver(frame);
  EXPECT_EQ(group.poll(1).size(), 2u);
  group.poll(1);
  ASSERT_GE(group.port(0).waiting(), 2u) << "acknowledgements that one poll finds";
  group.run(10, 1, 1'000);
  ASSERT_TRUE(group.nic(0).drained(0));
  ASSERT_TRUE(send_one(group));
  group.poll(0);
  group.port(1).lose_waiting();
  EXPECT_EQ(group.run(200, 1, 1'000'000).size(), 1u)
      << "the timeout is as long as the peer computed";
}

/// The client computes after each post, and finds the answer when it polls, which waited for it.
TEST(NicRoundTrip, IsMeasuredNoShorterByAClientThatComputes) {
  NicGroup group({});
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(send_one(group));
    answer_after(group, kRoundTripNs);
  }
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(send_one(group));
    group.clock().advance(kRoundTripNs);
    group.poll(1);
    group.poll(1);
    group.clock().advance(kRoundTripNs / 2);
    group.poll(0);
  }
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(send_one(group));
    answer_after(group, kRoundTripNs);
  }
  EXPECT_EQ(group.stat(0, "late_asks"), 0u) << "asked before a round trip had passed";
}

TEST(NicRoundTrip, IsMeasuredOnFramesThatAFullPortRefusedAtFirst) {
  NicGroup group({});
  for (int i = 0; i < 50; ++i) {
    group.port(0).set_tx_room(0);
    ASSERT_TRUE(send_one(group));
    group.poll(0);
    group.port(0).set_tx_room(~uint64_t{0});
    ASSERT_EQ(group.run(4, 1, 1'000).size(), 1u);
  }
  ASSERT_TRUE(send_one(group));
  group.port(1).lose_waiting();
  uint64_t waited_ns = 0;
  while (group.run(1, 1, 1'000).empty() && waited_ns < 10'000'000) waited_ns += 1'000;
  EXPECT_LT(waited_ns, 200'000u) << "the path, of a few microseconds, is still unknown";
}

/// A frame is always under way, so that the first timeout, of a millisecond, never ends.
TEST(NicRoundTrip, ShortensTheTimeoutOfAFlowThatIsNeverEmpty) {
  NicGroup group({.config = {.coalesce = false}});
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(send_one(group));
    group.poll(0);  // takes the acknowledgement of the frame before this one
    ASSERT_EQ(group.poll(1).size(), 1u);
    group.poll(1);
    group.clock().advance(1'000);
  }
  ASSERT_TRUE(send_one(group));
  group.port(1).lose_waiting();
  uint64_t waited_ns = 0;
  for (; group.stat(0, "late_asks") == 0 && waited_ns < 10'000'000; waited_ns += 1'000) {
    group.poll(0);
    group.clock().advance(1'000);
  }
  EXPECT_LT(waited_ns, 200'000u);
}

}  // namespace
}  // namespace pinwire
