// Back-pressure: what happens when something is full. Nothing may wedge (C1-154).
#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/nic_group.h"
#include "tests/unit/nicfw/nic_words.h"

namespace pinwire {
namespace {

class NicWithFewBuffers : public testing::TestWithParam<uint32_t> {
 public:
  NicGroup group{{.rx_buffers = GetParam(), .network_depth = 2, .config = {.coalesce = false}}};
};

TEST_P(NicWithFewBuffers, RequestsThatAreHeldStopNeitherRepliesNorPutsGetsAtomics) {
  fill_with_requests(group);
  uint64_t memory[2] = {10, 20};
  uint64_t local[2] = {7, 0};
  uint64_t old = 0;
  const Region region = group.pin(1, memory, sizeof memory);
  const AtomicOperands add{AtomicCode::kAdd, 5, 0};
  const uint64_t word = 77;
  const Work works[] = {put_work(1, &local[0], 8, &memory[0], region.remote_key),
                        get_work(1, &local[1], 8, &memory[1], region.remote_key),
                        atomic_work(1, &add, &old, &memory[1], region.remote_key),
                        send_work(1, kReply, &word, 8)};
  size_t posted = 0;
  std::vector<uint64_t> replies;
  for (int round = 0; round < 100; ++round) {
    if (posted < std::size(works) && group.post(0, works[posted])) ++posted;
    const auto got = group.poll(1, RecvFilter::kRepliesOnly);
    replies.insert(replies.end(), got.begin(), got.end());
    group.poll(0);
    group.clock().advance(10'000);
  }
  EXPECT_EQ(group.dones(0).size(), 3u);
  EXPECT_EQ(memory[0], 7u);
  EXPECT_EQ(old, 20u);
  EXPECT_EQ(memory[1], 25u);
  EXPECT_EQ(replies, std::vector<uint64_t>{77});
}

TEST_P(NicWithFewBuffers, RequestsAreTakenAgainWhenTheyAreGivenBack) {
  fill_with_requests(group);
  const uint64_t accepted = group.stat(0, "messages_sent");
  uint64_t delivered = 0;
  for (int round = 0; round < 400; ++round) {
    delivered += group.poll(1).size();
    group.poll(0);
    group.clock().advance(10'000);
  }
  EXPECT_EQ(delivered, accepted);
  const uint64_t word = 1;
  EXPECT_TRUE(group.post(0, send_work(1, kRequest, &word, 8)));
  EXPECT_EQ(group.run(40, 1, 10'000).size(), 1u);
  EXPECT_EQ(group.port(1).free_buffers(), GetParam());
}

TEST_P(NicWithFewBuffers, AFloodWithRepliesAndLossNeverWedges) {
  group.set_faults({.loss = 0.05, .reorder = 0.1});
  uint64_t requests[2] = {};
  uint64_t owed[2] = {};
  uint64_t answers[2] = {};
  constexpr uint64_t kCount = 400;
  for (int round = 0; round < 300'000 && answers[0] + answers[1] < 2 * kCount; ++round) {
    for (uint32_t r = 0; r < 2; ++r) {
      const uint64_t word = 1;
      if (owed[r] == 0 && requests[r] < kCount &&
          group.post(r, send_work(1 - r, kRequest, &word, 8))) {
        ++requests[r];
      }
      // A handler that waits for room for its reply polls for replies only.
      while (owed[r] > 0 && group.post(r, send_work(1 - r, kReply, &word, 8))) --owed[r];
      Recv out[4];
      const auto filter = owed[r] > 0 ? RecvFilter::kRepliesOnly : RecvFilter::kAll;
      const uint32_t count = group.nic(r).recv(0, filter, out);
      for (uint32_t i = 0; i < count; ++i) ++(out[i].cls == kRequest ? owed[r] : answers[r]);
      group.nic(r).give_back(0, std::span(out, count));
    }
    group.clock().advance(5'000);
  }
  EXPECT_EQ(answers[0], kCount);
  EXPECT_EQ(answers[1], kCount);
}

/// A client that keeps all that it gets leaves an eighth of the buffers to puts.
TEST_P(NicWithFewBuffers, MessagesThatAreHeldLeaveSomeToPuts) {
  const uint64_t source = 9;
  uint64_t target = 0;
  const Region region = group.pin(1, &target, sizeof target);
  for (int round = 0; round < 400; ++round) {
    for (const MessageClass cls : {kRequest, kReply}) {
      group.post(0, send_work(1, cls, &source, sizeof source));
    }
    Recv kept[64];
    group.nic(1).recv(0, RecvFilter::kAll, kept);
    group.poll(0);
    group.clock().advance(10'000);
  }
  group.poll(1);
  ASSERT_GT(group.stat(1, "rx_drop_refused"), 0u) << "there was room for everything";
  EXPECT_GE(group.port(1).free_buffers(), std::max(1u, GetParam() / 8));
  ASSERT_TRUE(group.post(0, put_work(1, &source, sizeof source, &target, region.remote_key)));
  group.run(10, 0, 10'000);
  EXPECT_EQ(target, source);
}

INSTANTIATE_TEST_SUITE_P(Buffers, NicWithFewBuffers, testing::Values(4, 8, 16, 64));

TEST(NicRoom, RefusedGetsAreServedLater) {
  // Far more gets than the target can owe, from three peers at once.
  NicGroup group({.ranks = 4, .config = {.window_frames = 8}});
  uint64_t memory = 5;
  const Region region = group.pin(0, &memory, sizeof memory);
  std::vector<uint64_t> local(3 * 300);
  size_t posted[4] = {};
  size_t done = 0;
  for (int round = 0; round < 20'000 && done < local.size(); ++round) {
    for (uint32_t r = 1; r < 4; ++r) {
      while (posted[r] < 300 && group.post(r, get_work(0, &local[(r - 1) * 300 + posted[r]], 8,
                                                       &memory, region.remote_key))) {
        ++posted[r];
      }
      group.poll(r);
      done += group.dones(r).size();
    }
    if (round % 3 == 0) group.poll(0);
    group.clock().advance(2'000);
  }
  EXPECT_EQ(done, local.size());
  for (const uint64_t word : local) EXPECT_EQ(word, 5u);
}

TEST(NicRoom, ABusyPortLosesNothing) {
  NicGroup group({});
  const auto source = byte_pattern(100'000);
  std::vector<uint8_t> target(source.size());
  const Region region = group.pin(1, target.data(), target.size());
  group.port(0).set_tx_room(0);
  ASSERT_TRUE(
      group.post(0, put_work(1, source.data(), source.size(), target.data(), region.remote_key)));
  const uint64_t word = 3;
  ASSERT_TRUE(group.post(0, send_work(1, kRequest, &word, 8)));
  group.run(10);
  EXPECT_EQ(group.port(1).waiting(), 0u);
  std::vector<uint64_t> got;
  for (uint64_t round = 0; round < 200; ++round) {
    group.port(0).set_tx_room(round % 3);
    const auto words = group.run(1, 1, 100);
    got.insert(got.end(), words.begin(), words.end());
  }
  EXPECT_EQ(group.dones(0).size(), 1u);
  EXPECT_EQ(got, std::vector<uint64_t>{3});
  EXPECT_EQ(source, target);
  EXPECT_GT(group.stat(0, "port_busy"), 0u);
  EXPECT_EQ(group.stat(1, "rx_drop_duplicate"), group.stat(0, "retransmits"));
}

TEST(NicRoom, MorePeersThanWindowsTakeTurns) {
  // 40 ranks, of which one talks to all at once; its pool of windows is smaller than 3 x 40.
  NicGroup group({.ranks = 40, .config = {.window_frames = 8}});
  std::vector<uint64_t> words(40);
  std::vector<bool> posted(40);
  size_t got = 0;
  for (int round = 0; round < 2'000 && got < 39; ++round) {
    for (uint32_t r = 1; r < 40; ++r) {
      if (!posted[r]) posted[r] = group.post(0, send_work(r, kRequest, &words[r], 8));
      got += group.poll(r).size();
    }
    group.poll(0);
  }
  EXPECT_EQ(got, 39u);
}

TEST(NicRoom, PostTellsHowManyItTook) {
  NicGroup group({.config = {.window_frames = 4, .coalesce = false}});
  uint64_t word = 1;
  std::vector<Work> works(100, send_work(1, kRequest, &word, 8));
  const uint32_t taken = group.nic(0).post(0, works);
  EXPECT_LE(taken, 4u);
  EXPECT_GT(taken, 0u);
  uint32_t sent = taken;
  size_t got = 0;
  for (int round = 0; round < 200 && got < works.size(); ++round) {
    got += group.poll(1).size();
    group.poll(0);
    sent += group.nic(0).post(0, std::span(works).subspan(sent));
  }
  EXPECT_EQ(got, works.size());
}

TEST(NicRoom, GivingBackTwiceIsAnError) {
  NicGroup group({});
  const uint64_t word = 1;
  ASSERT_TRUE(group.post(0, send_work(1, kRequest, &word, 8)));
  Recv out[1];
  ASSERT_EQ(group.nic(1).recv(0, RecvFilter::kAll, out), 1u);
  group.nic(1).give_back(0, out);
  EXPECT_DEATH(group.nic(1).give_back(0, out), "given back twice");
}

/// The window of frames is the one thing, the depth of requests the other.
TEST(NicDepth, BoundsTheRequestsUnderWayAndNotThePuts) {
  constexpr uint32_t kDepth = 4;
  NicGroup group({.network_depth = kDepth, .config = {.coalesce = false}});
  std::vector<uint8_t> source(100'000, 7), target(source.size());
  const Region region = group.pin(1, target.data(), target.size());
  const uint64_t word = 5;
  uint64_t arrived = 0;
  for (int round = 0; round < 20; ++round) {
    while (group.post(0, send_work(1, MessageClass::kRequest, &word, 8))) {
    }
    ASSERT_LE(group.port(1).waiting(), kDepth) << "after " << arrived;
    arrived += group.poll(1).size();
    group.poll(0);
  }
  EXPECT_GE(arrived, 40u);
  group.run(20, 1, 100'000);
  ASSERT_TRUE(
      group.post(0, put_work(1, source.data(), source.size(), target.data(), region.remote_key)));
  group.poll(0);
  EXPECT_GT(group.port(1).waiting(), kDepth);
}

}  // namespace
}  // namespace pinwire
