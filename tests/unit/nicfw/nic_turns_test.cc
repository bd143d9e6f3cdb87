// Long frames are built while the port's queue has room, and small ones go between them. How
// much that is worth is in tests/sim/runs/fairness_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/frame_look.h"
#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

constexpr uint64_t kGapNs = 100, kLongBytes = 1 << 20;
/// A link of 100 Gb/s carries this many frames of 1,514 bytes in a microsecond.
constexpr uint32_t kFramesOfAMicrosecond = 9;

class PortTurns : public testing::Test {
 protected:
  explicit PortTurns(uint64_t speed_gbit_per_s = 100, bool coalesce = true)
      : group_({.ranks = 3,
                .rx_buffers = 1024,
                .config = {.coalesce = coalesce},
                .speed_bits_per_s = speed_gbit_per_s * 1'000'000'000}) {}
  void SetUp() override {
    group_.clock().set_step(0);
    rest(12'000);
  }
  /// All ranks poll so often, with nothing to do, and forget the pause that was before.
  void rest(uint32_t polls) { group_.run(polls, 0, kGapNs); }
  /// Congestion control allows rank 0 many frames to rank 1.
  void open_window() {
    ASSERT_TRUE(group_.post(0, put(kLongBytes)));
    rest(20'000);
    ASSERT_EQ(group_.dones(0).size(), 1u);
    std::fill(target_.begin(), target_.end(), uint8_t{0});
  }
  Work put(uint64_t bytes, Rank peer = 1) {
    return put_work(peer, source_.data(), bytes, target_.data(), region_[peer].remote_key);
  }
  uint32_t waiting(Rank rank) { return group_.port(rank).waiting(); }

  NicGroup group_;
  std::vector<uint8_t> source_ = byte_pattern(kLongBytes);
  std::vector<uint8_t> target_ = std::vector<uint8_t>(kLongBytes);
  Region region_[3] = {group_.pin(0, target_.data(), kLongBytes),
                       group_.pin(1, target_.data(), kLongBytes),
                       group_.pin(2, target_.data(), kLongBytes)};
};

/// Rank 0 sends long data to rank 1 in several flows, and the port has room for one frame of one.
class PortTurnsOfFlows : public PortTurns {
 protected:
  void SetUp() override {
    PortTurns::SetUp();
    open_window();
    group_.poll(0);
    ASSERT_TRUE(group_.post(0, put(kLongBytes)));
    group_.poll(0);  // finds no room: from now on one-sided operations are the first
  }
  void ask_for_long_data() {
    const Work get =
        get_work(0, fetched_.data(), kLongBytes, target_.data(), region_[0].remote_key);
    ASSERT_TRUE(group_.post(1, get));
  }
  /// Rank 0 polls when the link has carried one more frame; the flow of the long frame that it
  /// sends.
  Flow next_flow() {
    const uint32_t before = waiting(1);
    group_.clock().advance(kFrameNs);
    group_.poll(0);
    std::vector<Flow> flows;
    for (uint32_t i = before; i < waiting(1); ++i) {
      const FrameHeader header = header_at(group_.port(1), i);
      if (header.record_bytes > kLongRecords) flows.push_back(header.flow());
    }
    EXPECT_EQ(flows.size(), 1u);
    return flows.empty() ? Flow::kRequest : flows[0];
  }

  static constexpr uint64_t kFrameNs = 123;
  static constexpr uint32_t kLongRecords = 1'000;
  std::vector<uint8_t> fetched_ = std::vector<uint8_t>(kLongBytes);
};

/// Each put has a frame of its own. Six of them are half of what a port of 10 Gb/s has room for.
class PortTurnsOfSmallPuts : public PortTurns {
 protected:
  PortTurnsOfSmallPuts() : PortTurns(10, false) {}
};

/// Three frames, a little shorter than the longest, fill a port of 10 Gb/s.
class SlowPortTurns : public PortTurns {
 protected:
  SlowPortTurns() : PortTurns(10) {}
  Work copied_put(uint64_t bytes = kCopiedBytes) {
    Work copied = put(bytes);
    copied.flags = kWorkCopied;
    return copied;
  }
  bool has_come(size_t at, size_t bytes) const {
    return std::equal(target_.begin() + static_cast<ptrdiff_t>(at),
                      target_.begin() + static_cast<ptrdiff_t>(at + bytes),
                      source_.begin() + static_cast<ptrdiff_t>(at));
  }
  static constexpr uint64_t kCopiedBytes = 6'000;
};

TEST_F(PortTurns, ALongPutIsBuiltAsTheLinkCarriesIt) {
  ASSERT_TRUE(group_.post(0, put(kLongBytes)));
  EXPECT_EQ(waiting(1), kFramesOfAMicrosecond);
  group_.poll(0);
  EXPECT_EQ(waiting(1), kFramesOfAMicrosecond) << "no time has passed";
  group_.clock().advance(123);  // a frame's time
  group_.poll(0);
  EXPECT_EQ(waiting(1), kFramesOfAMicrosecond + 1);
}

TEST_F(PortTurns, WhoPollsRarelyGivesThePortMore) {
  group_.clock().advance(1'000);
  group_.poll(0);
  ASSERT_TRUE(group_.post(0, put(kLongBytes)));
  EXPECT_GT(waiting(1), kFramesOfAMicrosecond);
}

TEST_F(PortTurns, SmallPutsDoNotWaitForThePort) {
  ASSERT_TRUE(group_.post(0, put(kLongBytes)));
  for (const Rank peer : {Rank{1}, Rank{2}}) {
    const uint32_t before = waiting(peer);
    ASSERT_TRUE(group_.post(0, put(8, peer)));
    group_.poll(0);
    group_.clock().advance(10);
    group_.poll(0);
    group_.clock().advance(5'000);  // the longest that a frame collects
    group_.poll(0);
    EXPECT_GT(waiting(peer), before);
  }
}

/// The longest put that one frame carries is a short one.
TEST_F(PortTurns, APutOfOneFrameDoesNotWaitForALongOne) {
  constexpr ptrdiff_t kElsewhere = kLongBytes / 2, kOneFrame = 1'376;
  ASSERT_TRUE(group_.post(0, put(kLongBytes)));
  Work one = put(kOneFrame);
  one.local = source_.data() + kElsewhere;
  one.remote += kElsewhere;
  ASSERT_TRUE(group_.post(0, one));
  rest(10);
  EXPECT_TRUE(std::equal(source_.begin() + kElsewhere, source_.begin() + kElsewhere + kOneFrame,
                         target_.begin() + kElsewhere));
}

/// Short puts take their part of the port's room, and do not wait for long ones.
TEST_F(PortTurns, ShortPutsDoNotWaitForThePort) {
  open_window();
  group_.poll(0);
  ASSERT_TRUE(group_.post(0, put(kLongBytes)));
  group_.poll(0);
  const uint32_t before = waiting(1);
  for (uint32_t puts = 1; puts <= 3; ++puts) {
    ASSERT_TRUE(group_.post(0, put(900)));
    EXPECT_EQ(waiting(1), before + puts);
  }
}

/// Small puts ask for no room, however many there are: a long one waits for them for a short while
/// only.
TEST_F(PortTurnsOfSmallPuts, GoWithoutRoomInThePort) {
  constexpr uint32_t kPuts = 8;
  open_window();
  group_.poll(0);
  ASSERT_TRUE(group_.post(0, put(kLongBytes)));
  group_.poll(0);
  const uint32_t before = waiting(1);
  for (uint32_t i = 0; i < kPuts; ++i) ASSERT_TRUE(group_.post(0, put(120)));
  group_.poll(0);
  EXPECT_EQ(waiting(1), before + kPuts);
}

TEST_F(PortTurns, SmallGetsDoNotWaitForLongOnes) {
  std::vector<uint8_t> fetched(kLongBytes);
  ASSERT_TRUE(group_.post(
      1, get_work(0, fetched.data(), kLongBytes, target_.data(), region_[0].remote_key)));
  group_.poll(0);
  group_.poll(0);
  ASSERT_EQ(waiting(1), kFramesOfAMicrosecond);
  uint64_t word = 0;
  ASSERT_TRUE(group_.post(2, get_work(0, &word, 8, target_.data(), region_[0].remote_key)));
  group_.poll(0);
  group_.poll(0);
  group_.poll(2);
  EXPECT_EQ(group_.dones(2).size(), 1u);
}

TEST_F(PortTurnsOfFlows, AFlowThatHasFilledThePortIsTheLastNextTime) {
  ASSERT_EQ(next_flow(), Flow::kOneSided);
  ask_for_long_data();
  EXPECT_EQ(next_flow(), Flow::kReply);
  EXPECT_EQ(next_flow(), Flow::kOneSided);
}

/// A flow that found no room goes before one that has something to send only now.
TEST_F(PortTurnsOfFlows, AFlowThatFoundNoRoomIsTheFirstNextTime) {
  const uint64_t word = 1;
  ASSERT_TRUE(group_.post(0, send_work(1, MessageClass::kRequest, &word, 8)));
  ask_for_long_data();
  ASSERT_EQ(next_flow(), Flow::kOneSided);
  Work put_send = put(kLongBytes);
  put_send.op = Op::kPutSend;
  put_send.cls = MessageClass::kRequest;
  put_send.head = &word;
  put_send.head_bytes = sizeof word;
  ASSERT_TRUE(group_.post(0, put_send));
  EXPECT_EQ(next_flow(), Flow::kReply);
}

/// The port has room for one frame from one poll to the next, and two peers are owed long puts.
TEST_F(PortTurns, APeerThatFoundNoRoomIsTheFirstNextTime) {
  constexpr uint64_t kFrameNs = 123;
  ASSERT_TRUE(group_.post(0, put(kLongBytes, 1)));
  ASSERT_TRUE(group_.post(0, put(kLongBytes, 2)));
  rest(20);
  uint32_t frames[3] = {};
  for (int i = 0; i < 40; ++i) {
    group_.clock().advance(kFrameNs);
    group_.poll(0);
    for (const Rank peer : {Rank{1}, Rank{2}}) {
      frames[peer] += waiting(peer);
      group_.poll(peer);
    }
  }
  EXPECT_NEAR(frames[1], frames[2], 2) << frames[1] << " and " << frames[2];
  EXPECT_GE(frames[1], 15u);
}

TEST_F(SlowPortTurns, ASmallPutOvertakesACopiedOneThatIsBuilt) {
  ASSERT_TRUE(group_.post(0, copied_put()));
  ASSERT_EQ(waiting(1), 3u) << "of five";
  constexpr size_t kElsewhere = kLongBytes / 2;
  for (size_t at : {kElsewhere, kElsewhere + 8}) {
    Work small = put(8);
    small.local = source_.data() + at;
    small.remote += at;
    ASSERT_TRUE(group_.post(0, small));
  }
  group_.poll(0);
  group_.poll(1);
  EXPECT_TRUE(has_come(kElsewhere, 16));
  EXPECT_FALSE(has_come(0, kCopiedBytes));
  rest(12'000);
  EXPECT_TRUE(has_come(0, kCopiedBytes));
  EXPECT_EQ(group_.dones(0).size(), 3u);
}

/// A client that always has a copied put under way always has frames that wait for the port.
TEST_F(SlowPortTurns, ALongPutGoesOnBetweenCopiedOnes) {
  constexpr size_t kElsewhere = kLongBytes / 2, kBytes = 64 * 1024;
  Work behind = put(kBytes);
  behind.local = source_.data() + kElsewhere;
  behind.remote += kElsewhere;
  ASSERT_TRUE(group_.post(0, copied_put()));
  ASSERT_TRUE(group_.post(0, behind));
  bool wants_next = false;
  for (int i = 0; i < 20'000 && !has_come(kElsewhere, kBytes); ++i) {
    rest(1);
    wants_next |= !group_.dones(0).empty();
    if (wants_next && group_.post(0, copied_put())) wants_next = false;
  }
  EXPECT_TRUE(has_come(kElsewhere, kBytes));
}

/// The port has no room for a long message to rank 1. Short ones to rank 1 wait for the port and
/// not for the long one: congestion control allows all of them.
TEST_F(PortTurns, MessagesDoNotWaitForALongOneThatWaitsForThePort) {
  open_window();
  ASSERT_TRUE(group_.post(0, put(kLongBytes, 2)));
  const uint64_t word = 1;
  Work long_message = put(kLongBytes);
  long_message.op = Op::kPutSend;
  long_message.head = &word;
  long_message.head_bytes = sizeof word;
  ASSERT_TRUE(group_.post(0, long_message));
  ASSERT_EQ(waiting(1), 0u) << "the put to rank 2 has filled the port";
  Work message = send_work(1, MessageClass::kRequest, &word, sizeof word);
  message.local = source_.data();
  message.bytes = 1'400;
  constexpr uint32_t kMessages = 16;
  for (uint32_t i = 0; i < kMessages; ++i) EXPECT_TRUE(group_.post(0, message)) << i;
}

/// post() has no clock: what it sent after a pause gets its timeout from the next poll on, whatever
/// it has overtaken.
TEST_F(SlowPortTurns, WhatHasOvertakenGetsItsTimeoutFromTheNextPollOn) {
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(group_.post(0, put(8)));
    group_.run(4, 0, 500);
  }
  rest(12'000);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(group_.post(0, put(kLongBytes, 2)));
  ASSERT_TRUE(group_.post(0, copied_put(2'000)));
  group_.clock().advance(kGapNs);
  group_.poll(0);
  ASSERT_EQ(waiting(1), 0u) << "the port is full of what goes to rank 2";
  group_.clock().advance(150'000);
  ASSERT_TRUE(group_.post(0, put(8)));
  ASSERT_EQ(waiting(1), 1u);
  const uint64_t asks = group_.stat(0, "late_asks");
  for (int i = 0; i < 3; ++i) {
    group_.clock().advance(kGapNs);
    group_.poll(0);
  }
  EXPECT_EQ(group_.stat(0, "late_asks"), asks);
}

TEST_F(PortTurns, WhatThePortRefusesIsNotInItsQueue) {
  group_.port(0).set_tx_room(0);
  ASSERT_TRUE(group_.post(0, put(kLongBytes)));
  for (int i = 0; i < 10; ++i) group_.poll(0);
  EXPECT_EQ(waiting(1), 0u);
  group_.port(0).set_tx_room(~uint64_t{0});
  group_.poll(0);
  EXPECT_EQ(waiting(1), kFramesOfAMicrosecond);
}

TEST(PortTurnsOf, APortOfUnknownSpeedHasRoomAlways) {
  NicGroup group({.rx_buffers = 1024});
  const auto source = byte_pattern(kLongBytes);
  std::vector<uint8_t> target(kLongBytes);
  const Region region = group.pin(1, target.data(), target.size());
  group.run(200, 0, kGapNs);
  ASSERT_TRUE(
      group.post(0, put_work(1, source.data(), kLongBytes, target.data(), region.remote_key)));
  EXPECT_GT(group.port(1).waiting(), kFramesOfAMicrosecond) << "all that the window allows";
}

}  // namespace
}  // namespace pinwire
