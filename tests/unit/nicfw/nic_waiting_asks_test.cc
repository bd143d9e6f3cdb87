// Gets and atomics that find no frame wait in their flow, and their caller goes on: a peer that
// computes holds up nobody who has others to ask.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

constexpr uint32_t kAsks = 300, kWindow = 64;
constexpr Rank kSilent = 1, kAttentive = 2;

/// Rank 0 asks rank 1, which computes, and rank 2, which does not.
class Askers {
 public:
  explicit Askers(const NicConfig& config, bool memory_medium = false)
      : group({.ranks = 3,
               .rx_buffers = 1024,
               .config = config,
               .memory_medium = std::vector<bool>(3, memory_medium)}) {
    std::iota(source.begin(), source.end(), uint64_t{1000});
    for (Rank rank = 1; rank < 3; ++rank) {
      regions[rank] = group.pin(rank, source.data(), source.size() * sizeof source[0]);
    }
  }

  bool get(Rank from, uint32_t at) {
    Work work =
        get_work(from, &fetched[at], sizeof fetched[0], &source[at], regions[from].remote_key);
    work.cookie = at;
    return group.post(0, work);
  }
  /// Adds to the last word, and reuses the operands at once, as a client may.
  bool add(Rank to, uint32_t at) {
    AtomicOperands operands{AtomicCode::kAdd, at + 1, 0};
    Work work = atomic_work(to, &operands, &fetched[at], &source.back(), regions[to].remote_key);
    work.cookie = at;
    const bool is_taken = group.post(0, work);
    operands = {AtomicCode::kSwap, 0, 0};
    return is_taken;
  }
  bool put(Rank to) {
    Work work = put_work(to, &word, sizeof word, &source.back(), regions[to].remote_key);
    work.flags = kWorkCopied;
    return group.post(0, work);
  }
  /// Rank 0 and `peer` poll; how often the Done of each operation has come goes to `done`.
  void round(Rank peer) {
    group.poll(peer);
    group.poll(0);
    for (const Done& each : group.dones(0)) {
      statuses.push_back(each.status);
      if (each.cookie < done.size()) ++done[each.cookie];
    }
    group.clock().advance(1'000);
  }
  void rounds(Rank peer, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) round(peer);
  }
  /// Rounds until so many operations have ended.
  uint32_t rounds_until(Rank peer, size_t ended, uint32_t limit) {
    uint32_t count = 0;
    for (; count < limit && statuses.size() < ended; ++count) round(peer);
    return count;
  }

  NicGroup group;
  Region regions[3] = {};
  uint64_t word = 9;
  std::vector<uint64_t> source = std::vector<uint64_t>(kAsks + 1);
  std::vector<uint64_t> fetched = std::vector<uint64_t>(kAsks);
  std::vector<uint32_t> done = std::vector<uint32_t>(kAsks);
  std::vector<WorkStatus> statuses;
};

/// Over wires, or over memory, where no congestion narrows the window.
class NicWaitingAsks : public testing::TestWithParam<bool> {
 protected:
  Askers ask_{{.window_frames = kWindow, .coalesce = false}, GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Media, NicWaitingAsks, testing::Bool());

TEST_P(NicWaitingAsks, GetsFromASilentPeerAreTakenBeyondItsWindow) {
  for (uint32_t i = 0; i < kAsks; ++i) ASSERT_TRUE(ask_.get(kSilent, i)) << "get " << i;
  ask_.word = 0;
  ASSERT_TRUE(ask_.put(kAttentive));
  ASSERT_TRUE(ask_.get(kAttentive, 7));
  EXPECT_LE(ask_.rounds_until(kAttentive, 2, 100), 4u);
  EXPECT_EQ(ask_.source.back(), 0u);
  EXPECT_EQ(ask_.fetched[7], 1007u);
}

TEST_P(NicWaitingAsks, EachEndsOnceAndRightWhenThePeerComesBack) {
  for (uint32_t i = 0; i < kAsks; ++i) ASSERT_TRUE(ask_.get(kSilent, i)) << "get " << i;
  for (int i = 0; i < 100; ++i) ask_.round(kAttentive);
  ASSERT_TRUE(ask_.statuses.empty());
  ask_.rounds(kSilent, 2'000);
  EXPECT_EQ(ask_.done, std::vector<uint32_t>(kAsks, 1));
  EXPECT_TRUE(std::equal(ask_.fetched.begin(), ask_.fetched.end(), ask_.source.begin()));
  EXPECT_EQ(ask_.group.stat(1, "gets_served"), kAsks);
  EXPECT_TRUE(ask_.group.nic(0).drained(0));
}

TEST_P(NicWaitingAsks, AtomicsKeepTheirOperandsWhileTheyWait) {
  for (uint32_t i = 0; i < kAsks; ++i) ASSERT_TRUE(ask_.add(kSilent, i)) << "atomic " << i;
  ask_.rounds(kSilent, 2'000);
  EXPECT_EQ(ask_.done, std::vector<uint32_t>(kAsks, 1));
  EXPECT_EQ(ask_.source.back(), 1000u + kAsks + kAsks * (kAsks + 1) / 2);
}

/// Waiting work holds operations, of which a silent peer has its share.
TEST_P(NicWaitingAsks, BeyondTheShareOfThePeerItAloneIsRefused) {
  constexpr uint32_t kOperations = 16 * kWindow;
  uint32_t taken = 0;
  while (taken < kOperations && ask_.get(kSilent, taken % kAsks)) ++taken;
  EXPECT_GE(taken, kAsks);
  EXPECT_LT(taken, kOperations / 3 * 2);
  for (uint32_t i = 0; i < kAsks / 2; ++i) ASSERT_TRUE(ask_.get(kAttentive, i)) << "get " << i;
}

/// One of many threads that share the lane puts eight bytes, and others get without end.
TEST_P(NicWaitingAsks, TheyLeaveFramesToARecord) {
  for (int small = 0; small < 20; ++small) {
    uint32_t rounds = 0;
    for (bool taken = false; rounds < 100 && !taken; ++rounds) {
      for (uint32_t i = 0; i < kAsks && ask_.get(kSilent, i); ++i) {
      }
      taken = ask_.put(kSilent);
      ask_.round(kSilent);
    }
    EXPECT_LE(rounds, 8u) << "small put " << small;
  }
}

/// A get that waits was not refused: no frame is left for it when the window is empty.
TEST(NicWaiting, NoPollIsLostByAGetThatWaits) {
  constexpr uint32_t kGets = 12;
  Askers ask({.window_frames = 4, .coalesce = false}, true);
  for (uint32_t i = 0; i < kGets; ++i) ASSERT_TRUE(ask.get(kSilent, i)) << "get " << i;
  EXPECT_LE(ask.rounds_until(kSilent, kGets, 100), 5u);
}

TEST(NicWaiting, GetsThatWaitShareFrames) {
  Askers ask({.window_frames = kWindow});
  for (uint32_t i = 0; i < kAsks; ++i) ASSERT_TRUE(ask.get(kSilent, i)) << "get " << i;
  ask.rounds(kSilent, 2'000);
  EXPECT_EQ(ask.done, std::vector<uint32_t>(kAsks, 1));
  EXPECT_LE(ask.group.stat(0, "frames_sent") - ask.group.stat(0, "acks_sent"), kAsks / 8);
}

TEST(NicWaiting, GetsThatWaitEndWithThePeer) {
  Askers ask({.window_frames = kWindow, .peer_timeout_ns = 5'000'000, .coalesce = false});
  for (uint32_t i = 0; i < kAsks; ++i) ASSERT_TRUE(ask.get(kSilent, i)) << "get " << i;
  for (int i = 0; i < 5'000; ++i) {
    ask.round(kAttentive);
    ask.group.clock().advance(1'000'000);
  }
  EXPECT_EQ(ask.statuses, std::vector<WorkStatus>(kAsks, WorkStatus::kUnreachable));
  EXPECT_EQ(ask.done, std::vector<uint32_t>(kAsks, 1));
  EXPECT_TRUE(ask.group.nic(0).drained(0));
}

/// The peer refuses one of those in its window; those that wait behind it are ended by nobody but
/// their own responses.
TEST(NicWaiting, ARefusalEndsTheGetThatItIsAbout) {
  Askers ask({.window_frames = 4, .coalesce = false}, true);
  constexpr uint32_t kGets = 12;
  for (uint32_t i = 0; i < kGets; ++i) ASSERT_TRUE(ask.get(kSilent, i)) << "get " << i;
  Work bad = get_work(kSilent, &ask.word, 8, &ask.word, ask.regions[kSilent].remote_key);
  bad.cookie = kGets;
  ASSERT_TRUE(ask.group.post(0, bad));
  ask.rounds(kSilent, 100);
  EXPECT_EQ(ask.done[kGets], 1u);
  EXPECT_EQ(std::count(ask.statuses.begin(), ask.statuses.end(), WorkStatus::kRemoteAccess), 1);
  EXPECT_EQ(std::count(ask.statuses.begin(), ask.statuses.end(), WorkStatus::kOk), kGets);
}

}  // namespace
}  // namespace pinwire
