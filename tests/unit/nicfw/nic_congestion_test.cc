// How the lane uses its congestion window: shared by the flows of a peer, fed with the fabric's
// delay alone, and paced below one frame.
#include <gtest/gtest.h>

#include <algorithm>

#include "nicfw/flow/congestion.h"
#include "nicfw/wire/wire.h"
#include "tests/support/nic_group.h"
#include "tests/unit/nicfw/nic_words.h"

namespace pinwire {
namespace {

constexpr uint64_t kUsNs = 1'000;
constexpr uint64_t kMsNs = 1'000'000;
constexpr uint32_t kLargeFrame = 9014;
constexpr uint32_t kLargeWindow = 2;  ///< of such frames, at first
constexpr size_t kLargePutBytes = 1 << 20;

FrameHeader header_of(std::span<const std::byte> frame) {
  FrameHeader header;
  const RxFrame received{const_cast<std::byte*>(frame.data()), static_cast<uint32_t>(frame.size()),
                         false, nullptr};
  EXPECT_EQ(
      parse_header(received, FrameKey(NicGroup::kJobKey, 0).job_tag(), kDefaultUdpPort, header),
      Reject::kNone);
  return header;
}

/// Rank 0 puts a megabyte to rank 1 whenever a test wants frames.
class Putter {
 public:
  explicit Putter(const NicGroup::Options& options) : group(options) {
    group.clock().advance(100 * kMsNs);  // long after whatever counts from zero
    group.run(1);
    region_ = group.pin(1, target_.data(), target_.size());
  }
  bool put(uint64_t bytes = kLargePutBytes) {
    return group.post(0, put_work(1, source_.data(), bytes, target_.data(), region_.remote_key));
  }
  /// Round trips in which both ranks poll each microsecond.
  void turn(uint32_t rounds) { group.run(rounds, 1, kUsNs); }
  /// Until nothing is under way.
  void finish(size_t puts) {
    size_t done = 0;
    for (int i = 0; i < 100'000 && done < puts; ++i) {
      turn(1);
      done += group.dones(0).size();
    }
    EXPECT_EQ(done, puts);
    turn(10);
  }
  /// Rank 0 polls each microsecond, alone.
  void poll_sender(uint64_t ns) {
    for (uint64_t passed = 0; passed < ns; passed += kUsNs) {
      group.clock().advance(kUsNs);
      group.poll(0);
    }
  }
  /// Rank 1 gets the first frame of those that wait, and its acknowledgement reaches rank 0 after
  /// `delay_ns`, in which rank 0 polls: the fabric's delay. The other frames are lost.
  void answer_first_after(uint64_t delay_ns) {
    ASSERT_GT(group.port(1).waiting(), 0u);
    const auto first = group.port(1).peek();
    const std::vector<std::byte> frame(first.begin(), first.end());
    group.port(1).lose_waiting();
    group.poll(1);
    ASSERT_TRUE(group.port(1).inject(frame.data(), static_cast<uint32_t>(frame.size())));
    group.poll(1);
    group.poll(1);
    ASSERT_EQ(group.port(0).waiting(), 1u);
    const auto answer = group.port(0).peek();
    const std::vector<std::byte> held(answer.begin(), answer.end());
    group.port(0).lose_waiting();
    poll_sender(delay_ns);
    group.port(1).lose_waiting();
    ASSERT_TRUE(group.port(0).inject(held.data(), static_cast<uint32_t>(held.size())));
    group.poll(0);
  }
  /// Rank 1 answers the question that is all that waits for it.
  void answer_question() {
    LoopPort& port = group.port(1);
    if (port.waiting() != 1 || port.peek().size() != kRecordsOffset) return;
    group.poll(1);
    group.poll(0);
  }

  /// Frames that rank 0 sends of a new put, at once.
  uint32_t burst() {
    EXPECT_EQ(group.port(1).waiting(), 0u);
    EXPECT_TRUE(put());
    const uint32_t frames = group.port(1).waiting();
    finish(1);
    return frames;
  }

  NicGroup group;

 private:
  const std::vector<uint8_t> source_ = byte_pattern(kLargePutBytes);
  std::vector<uint8_t> target_ = std::vector<uint8_t>(kLargePutBytes);
  Region region_;
};

NicGroup::Options large_frames(uint64_t timeout_ns = kNever) {
  return {.frame_bytes_max = kLargeFrame,
          .rx_buffers = 512,
          .config = {.rto_min_ns = timeout_ns,
                     .rto_max_ns = timeout_ns,
                     .coalesce = false,
                     .path_bytes = kLargeFrame}};
}

TEST(NicCongestion, FlowsShareTheWindowOfTheirPeerButEachHasOneFrame) {
  Putter putter(large_frames());
  NicGroup& group = putter.group;
  ASSERT_TRUE(putter.put());
  EXPECT_EQ(group.port(1).waiting(), kLargeWindow);
  EXPECT_TRUE(group.post(0, send_work(1, kRequest, &kWord, 8)));
  EXPECT_FALSE(group.post(0, send_work(1, kRequest, &kWord, 8)));
  EXPECT_TRUE(group.post(0, send_work(1, kReply, &kWord, 8)));
  EXPECT_TRUE(group.post(0, send_work(1, kReply, &kWord, 8))) << "built, whatever the window";
  EXPECT_EQ(group.port(1).waiting(), kLargeWindow + 2) << "each flow has one on the wire";
}

TEST(NicCongestion, RepliesGoOnWhileRequestsAreStuck) {
  Putter putter(large_frames());
  NicGroup& group = putter.group;
  for (uint32_t i = 0; i < kLargeWindow; ++i) {
    ASSERT_TRUE(group.post(0, send_work(1, kRequest, &kWord, 8)));
  }
  group.port(1).lose_waiting();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(group.post(0, send_work(1, kReply, &kWord, 8))) << i;
    EXPECT_EQ(group.run(2, 1, kUsNs).size(), 1u) << i;
    putter.turn(4);
  }
}

TEST(NicCongestion, WhatWasBuiltForOneFlowDoesNotLeaveBeyondTheWindow) {
  // A copied put is built as a whole, whatever the window, and leaves as the window allows.
  Putter putter(large_frames());
  NicGroup& group = putter.group;
  const auto source = byte_pattern(group.nic(0).caps().copied_bytes_max);
  std::vector<uint8_t> target(source.size());
  const Region region = group.pin(1, target.data(), target.size());
  Work work = put_work(1, source.data(), source.size(), target.data(), region.remote_key);
  work.flags |= kWorkCopied;
  ASSERT_TRUE(group.post(0, work));
  EXPECT_EQ(group.port(1).waiting(), kLargeWindow);
  putter.finish(1);
  EXPECT_EQ(source, target);
}

TEST(NicCongestion, TheHostsDelayIsEchoed) {
  Putter putter(large_frames());
  NicGroup& group = putter.group;
  ASSERT_TRUE(putter.put(64));
  group.poll(1);
  constexpr uint64_t kGapNs = 640'000;
  group.clock().advance(kGapNs);
  ASSERT_TRUE(putter.put(64));
  group.poll(1);
  group.poll(1);
  const uint32_t answers = group.port(0).waiting();
  ASSERT_GT(answers, 0u);
  const FrameHeader header = header_of(group.port(0).peek(answers - 1));
  EXPECT_GE(header.host_delay, kGapNs / kHostDelayUnitNs);
  EXPECT_LE(header.host_delay, (kGapNs + 2 * kUsNs) / kHostDelayUnitNs);
}

TEST(NicCongestion, ADelayThatIsTooLongToSayIsUnknown) {
  Putter putter(large_frames());
  NicGroup& group = putter.group;
  group.poll(1);
  group.clock().advance(10 * kMsNs);
  ASSERT_TRUE(putter.put(64));
  group.poll(1);
  group.poll(1);
  ASSERT_GT(group.port(0).waiting(), 0u);
  EXPECT_EQ(header_of(group.port(0).peek()).host_delay, kHostDelayUnknown);
}

TEST(NicCongestion, AnAcknowledgementFromAPostSaysUnknown) {
  Putter putter(large_frames());
  NicGroup& group = putter.group;
  ASSERT_TRUE(group.post(0, send_work(1, kRequest, &kWord, 8)));
  ASSERT_EQ(group.poll(1).size(), 1u);
  ASSERT_EQ(group.port(0).waiting(), 0u);
  ASSERT_TRUE(group.post(1, send_work(0, kReply, &kWord, 8)));
  ASSERT_EQ(group.port(0).waiting(), 1u);
  const FrameHeader header = header_of(group.port(0).peek());
  EXPECT_EQ(header.acks[static_cast<size_t>(Flow::kRequest)], 1u);
  EXPECT_EQ(header.host_delay, kHostDelayUnknown);
}

TEST(NicCongestion, AnUnknownDelayShrinksNothing) {
  Putter putter(large_frames());
  NicGroup& group = putter.group;
  putter.burst();
  const uint32_t before = putter.burst();
  ASSERT_GE(before, 32u);
  for (int i = 0; i < 8; ++i) {  // rank 1 computes before it replies
    ASSERT_TRUE(group.post(0, send_work(1, kRequest, &kWord, 8)));
    ASSERT_EQ(group.poll(1).size(), 1u);
    putter.poll_sender(8 * kMsNs);
    ASSERT_TRUE(group.post(1, send_work(0, kReply, &kWord, 8)));
    putter.turn(4);
  }
  EXPECT_GE(putter.burst(), before);
}

TEST(NicCongestion, APeerThatPollsRarelyIsNoSlowPath) {
  Putter putter(large_frames());
  NicGroup& group = putter.group;
  ASSERT_TRUE(putter.put());
  uint32_t waiting = 0;
  for (int i = 0; i < 6; ++i) {
    putter.poll_sender(kMsNs);
    waiting = group.port(1).waiting();
    group.poll(1);
    group.poll(0);
  }
  EXPECT_GE(waiting, 32u);
}

TEST(NicCongestion, AnOwnerThatPollsRarelyIsNoSlowPath) {
  Putter putter(large_frames());
  NicGroup& group = putter.group;
  ASSERT_TRUE(putter.put());
  uint32_t waiting = 0;
  for (int i = 0; i < 6; ++i) {
    waiting = group.port(1).waiting();
    for (uint64_t passed = 0; passed < kMsNs / 8; passed += kUsNs) {  // no absence
      group.clock().advance(kUsNs);
      group.poll(1);
    }
    group.poll(0);
  }
  EXPECT_GE(waiting, 32u);
}

TEST(NicCongestion, TheFabricsDelayHalvesTheWindow) {
  Putter putter(large_frames());
  NicGroup& group = putter.group;
  ASSERT_TRUE(putter.put());
  putter.turn(1);  // both frames are acknowledged: the window doubles
  group.poll(0);
  ASSERT_EQ(group.port(1).waiting(), 2 * kLargeWindow);
  putter.answer_first_after(kMsNs);
  EXPECT_EQ(group.port(1).waiting(), 0u) << "three are in flight, and two may be";
}

TEST(NicCongestion, ATimeoutsRepetitionDoesNotWaitForFramesBehindIt) {
  Putter putter(large_frames(5 * kMsNs));
  NicGroup& group = putter.group;
  ASSERT_TRUE(putter.put(16 * 8'192));
  putter.turn(2);
  group.poll(0);
  ASSERT_GE(group.port(1).waiting(), 6u);
  // The window is half of what is in flight, all of which is lost.
  putter.answer_first_after(kMsNs);
  ASSERT_EQ(group.stat(0, "timeouts"), 0u);
  putter.poll_sender(6 * kMsNs);
  EXPECT_EQ(group.stat(0, "late_asks"), 1u);
  EXPECT_EQ(group.stat(0, "retransmits"), 0u);
  putter.answer_question();
  EXPECT_EQ(group.stat(0, "timeouts"), 1u);
  EXPECT_EQ(group.stat(0, "retransmits"), 1u);
  putter.finish(1);
}

TEST(NicCongestion, ABurstIsAcknowledgedBeforeTheNextOneIsTaken) {
  NicGroup group({.rx_buffers = 512, .memory_medium = {true, true}});
  const auto source = byte_pattern(200'000);
  std::vector<uint8_t> target(source.size());
  const Region region = group.pin(1, target.data(), target.size());
  ASSERT_TRUE(
      group.post(0, put_work(1, source.data(), source.size(), target.data(), region.remote_key)));
  const uint32_t frames = group.port(1).waiting();
  ASSERT_GE(frames, 4 * 32u);
  group.poll(1);
  EXPECT_EQ(group.port(1).waiting(), 0u);
  EXPECT_EQ(source, target);
  EXPECT_GE(group.port(0).waiting(), frames / 32) << "acknowledgements";
}

TEST(NicCongestion, OnePollTakesNoMoreThanSixteenBursts) {
  constexpr uint32_t kSenders = 3;
  NicGroup group({.ranks = kSenders + 1,
                  .rx_buffers = 1024,
                  .memory_medium = std::vector<bool>(kSenders + 1, true)});
  const auto source = byte_pattern(kLargePutBytes);
  std::vector<uint8_t> target(source.size());
  const Region region = group.pin(0, target.data(), target.size());
  for (Rank rank = 1; rank <= kSenders; ++rank) {
    ASSERT_TRUE(group.post(
        rank, put_work(0, source.data(), source.size(), target.data(), region.remote_key)));
  }
  const uint32_t frames = group.port(0).waiting();
  ASSERT_GT(frames, 16 * 32u);
  group.poll(0);
  EXPECT_EQ(group.port(0).waiting(), frames - 16 * 32);
}

TEST(NicCongestion, MessagesGoToTheClientBeforeTheNextBurst) {
  NicGroup group({.rx_buffers = 512, .config = {.coalesce = false}, .memory_medium = {true, true}});
  uint32_t posted = 0;
  while (posted < 60 && group.post(0, send_work(1, kReply, &kWord, 8))) ++posted;
  group.poll(0);
  ASSERT_EQ(group.port(1).waiting(), 60u);
  EXPECT_EQ(group.poll(1).size(), 32u);
  EXPECT_EQ(group.port(1).waiting(), 60u - 32u);
}

/// The window is one frame, the path was slow lately, and a frame was lost there.
void go_below_one(Putter& putter) {
  NicGroup& group = putter.group;
  ASSERT_TRUE(putter.put());
  for (int i = 0; i < 2; ++i) {
    putter.answer_first_after(3 * kMsNs / 4);
    while (group.port(1).waiting() == 0) putter.poll_sender(kUsNs);
    putter.answer_question();  // and one frame is repeated
  }
  while (group.stat(0, "timeouts") == 0) putter.poll_sender(kUsNs);
}

TEST(NicCongestion, AWindowBelowOneFrameWaitsForItsTime) {
  Putter putter(large_frames(2 * kMsNs));
  NicGroup& group = putter.group;
  go_below_one(putter);
  group.port(1).lose_waiting();
  uint64_t left_ns[3] = {};
  uint64_t now_ns = 0;
  for (uint64_t& at_ns : left_ns) {
    while (group.port(1).waiting() == 0 && now_ns < 50 * kMsNs) {
      now_ns += kUsNs;
      putter.poll_sender(kUsNs);
      putter.answer_question();
      if (group.port(1).waiting() == 0) {
        ASSERT_EQ(group.nic(0).arm(0), Armed::kBusy) << "a sleep would be longer than the wait";
      }
    }
    at_ns = now_ns;
    EXPECT_EQ(group.port(1).waiting(), 1u);
    group.poll(1);
    group.poll(1);
    group.poll(0);
  }
  EXPECT_GE(left_ns[1] - left_ns[0], 200 * kUsNs);
  EXPECT_GE(left_ns[2] - left_ns[1], 200 * kUsNs);
  EXPECT_LE(left_ns[2] - left_ns[1], CongestionWindow::kPaceMaxNs + 10 * kUsNs);
}

TEST(NicCongestion, APauseOfTenMillisecondsStartsTheWindowAnew) {
  Putter putter(large_frames());
  putter.burst();
  const uint32_t grown = putter.burst();
  ASSERT_GE(grown, 32u);
  putter.poll_sender(kMsNs);
  EXPECT_GE(putter.burst(), grown) << "after one millisecond";
  putter.poll_sender(CongestionWindow::kIdleNs + kMsNs);
  EXPECT_EQ(putter.burst(), kLargeWindow);
}

TEST(NicCongestion, ATimeoutWaitsForQueuesOfANetworkButNotOfMemory) {
  for (const bool is_memory : {false, true}) {
    NicGroup group({.config = {.coalesce = false}, .memory_medium = {is_memory, is_memory}});
    for (int i = 0; i < 200; ++i) {
      ASSERT_TRUE(group.post(0, send_work(1, kRequest, &kWord, 8)));
      ASSERT_EQ(group.run(4, 1, kUsNs).size(), 1u);
    }
    ASSERT_TRUE(group.post(0, send_work(1, kRequest, &kWord, 8)));
    uint64_t waited_ns = 0;
    for (; group.stat(0, "late_asks") == 0 && waited_ns < kMsNs; waited_ns += kUsNs) {
      group.clock().advance(kUsNs);
      group.poll(0);
    }
    EXPECT_GE(waited_ns, is_memory ? 0 : 45 * kUsNs)
        << "less a tenth, which the clock's own steps take";
    EXPECT_LT(waited_ns, is_memory ? 45 * kUsNs : 100 * kUsNs);
  }
}

}  // namespace
}  // namespace pinwire
