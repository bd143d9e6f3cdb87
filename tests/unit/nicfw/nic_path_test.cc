// A path that carries shorter frames than the ports at its ends: it is found, said once, and
// everything passes (finding R20: 86,105 repeats in 600 s, and no word).
#include <gtest/gtest.h>

#include "tests/support/path_group.h"
#include "tests/unit/nicfw/nic_words.h"

namespace pinwire {
namespace {

struct NicPath : PathGroup {};

TEST_F(NicPath, AnAnsweredProbeOpensThePath) {
  put(80'000);
  EXPECT_EQ(group.stat(0, "path_probes"), 2u);
  expect_wide();
  EXPECT_EQ(group.stat(0, "path_probes"), 2u);
  EXPECT_EQ(group.stat(0, "retransmits"), 0u);
  EXPECT_TRUE(heard.sentences.empty());
}

TEST_F(NicPath, SmallTrafficProbesNothing) {
  put(1'000);
  EXPECT_EQ(send(byte_pattern(1'000), 0).size(), 1'000u);
  EXPECT_EQ(group.stat(0, "path_probes"), 0u);
}

TEST_F(NicPath, R20ANarrowPathIsSaidAndRepeatsNothing) {
  narrow();
  EXPECT_LT(put(64 * 1024), kMillisecond);
  group.run(10'000, 0, 10'000);
  EXPECT_EQ(group.stat(0, "retransmits"), 0u);
  EXPECT_EQ(group.stat(0, "path_holes"), 1u);
  EXPECT_LE(group.stat(0, "path_probes"), 24u);
  ASSERT_EQ(heard.sentences.size(), 1u);
  for (const char* part :
       {"9014 bytes from rank 0", "rank 1", "1514 bytes", "GASNET_DPDK_MTU=1500"})
    EXPECT_NE(heard.sentences[0].find(part), std::string::npos) << heard.sentences[0];
  EXPECT_LT(put(1 << 20), kSecond / 10);
  EXPECT_EQ(group.stat(0, "retransmits"), 0u);
  EXPECT_EQ(heard.sentences.size(), 1u);
  EXPECT_EQ(group.nic(0).failure(), nullptr);
}

TEST_F(NicPath, EverythingPassesANarrowPath) {
  narrow();
  const uint64_t message_bytes_max = group.nic(0).caps().send_bytes_max;
  for (const uint64_t bytes :
       {uint64_t{1'410}, uint64_t{1'411}, uint64_t{5'000}, message_bytes_max}) {
    for (const uint8_t flags : {uint8_t{0}, uint8_t{kWorkCopied}, uint8_t{kWorkSilent}}) {
      const auto payload = byte_pattern(bytes, bytes);
      EXPECT_EQ(send(payload, flags), payload);
    }
  }
  put(group.nic(0).caps().copied_bytes_max, kWorkCopied);
  put(5'000, kWorkCopied);
  put(group.nic(0).caps().copied_bytes_max - 1, kWorkCopied);
  EXPECT_EQ(group.stat(0, "retransmits"), 0u);
  EXPECT_GT(group.stat(0, "frames_in_pieces"), 0u);
}

TEST_F(NicPath, GetsPassANarrowPath) {
  narrow();
  auto source = byte_pattern(100'000);
  std::vector<uint8_t> target(source.size());
  const Region region = group.pin(1, source.data(), source.size());
  ASSERT_TRUE(
      group.post(0, get_work(1, target.data(), target.size(), source.data(), region.remote_key)));
  EXPECT_LT(wait_for_done(kSecond), kMillisecond);
  EXPECT_EQ(source, target);
  group.run(10'000, 0, 10'000);
  EXPECT_EQ(group.stat(1, "path_holes"), 1u);
  EXPECT_EQ(group.stat(0, "path_holes"), 0u);
}

/// A rank that computes answers no probe, and gets few.
TEST_F(NicPath, AComputingPeerIsNoNarrowPath) {
  const auto source = byte_pattern(80'000);
  std::vector<uint8_t> target(source.size());
  const Region region = group.pin(1, target.data(), target.size());
  ASSERT_TRUE(
      group.post(0, put_work(1, source.data(), source.size(), target.data(), region.remote_key)));
  for (int i = 0; i < 40'000; ++i) {
    group.poll(0);
    group.clock().advance(kMillisecond);
  }
  EXPECT_LE(group.stat(0, "path_probes"), 60u);
  EXPECT_TRUE(group.nic(0).failure() == nullptr);
  EXPECT_LT(wait_for_done(kSecond), 100 * kMillisecond);
  EXPECT_TRUE(heard.sentences.empty());
  expect_wide();
}

/// The long probe of the first pair was lost, and then the peer computes: nothing answers the other
/// pairs, and what it answered before says nothing of them.
TEST_F(NicPath, AnAnswerToOnePairSaysNothingOfTheNext) {
  group.run(1);
  narrow();
  const auto source = byte_pattern(20'000);
  std::vector<uint8_t> target(source.size());
  const Region region = group.pin(1, target.data(), target.size());
  ASSERT_TRUE(
      group.post(0, put_work(1, source.data(), source.size(), target.data(), region.remote_key)));
  widen();
  group.run(4);
  for (int i = 0; i < 10'000; ++i) {
    group.poll(0);
    group.clock().advance(10'000);
  }
  EXPECT_GE(group.stat(0, "path_probes"), 4u);
  EXPECT_EQ(group.stat(0, "path_holes"), 0u);
  EXPECT_TRUE(heard.sentences.empty());
}

/// However long the peer computed, and even if all probes to it were lost, the path is judged
/// eleven seconds after it is back.
TEST_F(NicPath, APeerThatComputedForLongIsProbedSoonAfter) {
  const auto source = byte_pattern(80'000);
  std::vector<uint8_t> target(source.size());
  const Region region = group.pin(1, target.data(), target.size());
  ASSERT_TRUE(
      group.post(0, put_work(1, source.data(), source.size(), target.data(), region.remote_key)));
  for (int i = 0; i < 5'000; ++i) {
    group.poll(0);
    group.clock().advance(10 * kMillisecond);
  }
  group.port(1).lose_waiting();
  wait_for_done(kSecond);
  group.clock().advance(11 * kSecond);
  group.run(10);
  put(80'000);
  expect_wide();
}

/// Until the path is judged the lane wakes by itself; it holds up nobody's exit.
TEST_F(NicPath, ALaneThatProbesSleepsWithATimer) {
  narrow();
  put(80'000);
  group.run(10);
  EXPECT_TRUE(group.nic(0).drained(0));
  EXPECT_EQ(group.nic(0).arm(0), Armed::kTimed);
  group.run(10'000, 0, 10'000);
  EXPECT_EQ(group.nic(0).arm(0), Armed::kArmed);
}

/// The peer computed, and so nothing was learnt: its answer, once it comes, ends the pause.
TEST_F(NicPath, ALateAnswerEndsThePause) {
  narrow();
  const auto source = byte_pattern(80'000);
  std::vector<uint8_t> target(source.size());
  const Region region = group.pin(1, target.data(), target.size());
  const Work work = put_work(1, source.data(), source.size(), target.data(), region.remote_key);
  ASSERT_TRUE(group.post(0, work));
  for (int i = 0; i < 10; ++i, group.clock().advance(kMillisecond)) group.poll(0);
  const uint64_t probes = group.stat(0, "path_probes");
  EXPECT_GE(probes, 4u) << "two pairs, and then a pause";
  group.run(100, 0, 1'000);
  ASSERT_EQ(group.dones(0).size(), 1u);
  put(80'000);
  EXPECT_GT(group.stat(0, "path_probes"), probes);
}

/// The port took the short probe of each pair and not the long one: that is no narrow path.
TEST_F(NicPath, AProbeThatThePortRefusesTellsNothing) {
  const auto source = byte_pattern(20'000);
  std::vector<uint8_t> target(source.size());
  const Region region = group.pin(1, target.data(), target.size());
  const Work work = put_work(1, source.data(), source.size(), target.data(), region.remote_key);
  group.port(0).set_tx_room(1);
  ASSERT_TRUE(group.post(0, work));
  for (int i = 0; i < 10'000; ++i) {
    group.port(0).set_tx_room(1);
    group.run(1, 0, 10'000);
  }
  EXPECT_EQ(source, target);
  EXPECT_GE(group.stat(0, "path_probes"), 40u);
  EXPECT_EQ(group.stat(0, "path_holes"), 0u);
  EXPECT_TRUE(heard.sentences.empty());
  group.port(0).set_tx_room(~uint64_t{0});
  group.run(1'000, 0, 10'000);
  EXPECT_EQ(group.dones(0).size(), 1u);
  expect_wide();
}

TEST_F(NicPath, RandomLossLeavesAnOpenPathOpen) {
  put(80'000);
  group.set_faults({.loss = 0.05});
  for (int i = 0; i < 50; ++i) put(200'000);
  group.set_faults({});
  group.run(10'000, 0, 10'000);
  EXPECT_TRUE(heard.sentences.empty());
  expect_wide();
}

/// More frames are incomplete at once than the receiver has memory for.
TEST_F(NicPath, PiecesPassAPathThatLosesThem) {
  narrow();
  group.set_faults({.loss = 0.2, .duplicate = 0.1, .reorder = 0.2, .corrupt = 0.02});
  for (const uint64_t bytes : {500'000u, 100'000u, 700'000u}) put(bytes, kWorkCopied);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(send(byte_pattern(8'000), kWorkCopied), byte_pattern(8'000));
}

/// A port that never takes all pieces of a frame at once, and one whose burst is smaller.
TEST_F(NicPath, PiecesPassAPortThatTakesFew) {
  narrow();
  const auto payload = byte_pattern(8'900);
  Work work = send_work(1, kRequest, nullptr, 0);
  work.local = const_cast<uint8_t*>(payload.data());
  work.bytes = payload.size();
  group.port(0).set_tx_room(3);
  ASSERT_TRUE(group.post(0, work));
  size_t got = 0;
  for (int i = 0; i < 8 && got == 0; ++i) {
    group.port(0).set_tx_room(3);
    group.poll(0);
    got = group.poll(1).size();
  }
  EXPECT_EQ(got, 1u);
  group.port(0).set_tx_room(~uint64_t{0});
  group.run(1'000, 0, 10'000);
  EXPECT_TRUE(group.nic(0).drained(0));
  EXPECT_EQ(group.port(1).free_buffers(), 256u);
}

TEST(NicPathOfTwoLanes, OneSentenceIsEnough) {
  Heard heard;
  NicGroup group(
      {.ranks = 3, .frame_bytes_max = kPortBytes, .lanes = 2, .config = {.notices = &heard}});
  for (uint32_t rank = 0; rank < 3; ++rank) group.port(rank).set_path_bytes(kPathBytes);
  const auto payload = byte_pattern(8'000);
  for (uint32_t lane = 0; lane < 2; ++lane) {
    for (Rank peer : {1u, 2u}) {
      Work work = send_work(peer, kRequest, nullptr, 0);
      work.local = const_cast<uint8_t*>(payload.data());
      work.bytes = payload.size();
      ASSERT_EQ(group.nic(0).post(lane, {&work, 1}), 1u);
    }
  }
  for (int i = 0; i < 10'000; ++i) {
    for (uint32_t rank = 0; rank < 3; ++rank) {
      for (uint32_t lane = 0; lane < 2; ++lane) group.poll(rank, RecvFilter::kAll, lane);
    }
    group.clock().advance(10'000);
  }
  EXPECT_EQ(group.stat(0, "path_holes"), 4u);
  EXPECT_EQ(heard.sentences.size(), 1u);
}

TEST(NicPathNotProbed, OverMemoryAndBetweenSmallPorts) {
  for (const bool is_memory : {false, true}) {
    NicGroup group({.frame_bytes_max = is_memory ? kPortBytes : kPathBytes,
                    .memory_medium = {is_memory, is_memory}});
    const auto source = byte_pattern(80'000);
    std::vector<uint8_t> target(source.size());
    const Region region = group.pin(1, target.data(), target.size());
    ASSERT_TRUE(
        group.post(0, put_work(1, source.data(), source.size(), target.data(), region.remote_key)));
    for (int i = 0; i < 10; ++i) {  // long frames that are lost do not cast a doubt on it, either
      group.poll(0);
      group.port(1).lose_waiting();
      group.clock().advance(10'000'000);
    }
    group.run(10'000, 0, 100'000);
    EXPECT_EQ(source, target);
    EXPECT_EQ(group.stat(0, "path_probes"), 0u);
    EXPECT_EQ(group.stat(0, "frames_in_pieces"), 0u);
  }
}

}  // namespace
}  // namespace pinwire
