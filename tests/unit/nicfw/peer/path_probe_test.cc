#include "nicfw/peer/path_probe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace pinwire {
namespace {

/// The paths of a rank to three peers, without a lane: what a lane would send is noted.
class ProbedPaths : public testing::Test, public PathProbe::Host {
 protected:
  static constexpr uint16_t kPortBytes = 9014, kPathBytes = 1514;
  static constexpr uint64_t kMicrosecond = 1'000, kMillisecond = 1'000'000;
  static constexpr uint64_t kSecond = 1'000'000'000;
  static constexpr uint32_t kNarrowPairs = 2, kHolePairs = 10, kCongestedPairs = 100;
  static constexpr uint32_t kRanks = 3;

  explicit ProbedPaths(bool are_all_open = false) {
    // A pair has 50 ms at most, however many went unanswered.
    paths_.make({.peers = peers_.data(),
                 .ranks = kRanks,
                 .first = ~uint32_t{0},
                 .path_bytes = kPathBytes,
                 .are_all_open = are_all_open,
                 .timeout_limits = {20 * kMicrosecond, 50 * kMillisecond}},
                *this, random_);
    for (Peer& peer : peers_) {
      peer.frame_bytes_max = kPortBytes;
      paths_.start(peer);
    }
  }

  void send_probe(Peer& peer, uint32_t frame_bytes) noexcept override {
    probes_.emplace_back(rank_of(peer), frame_bytes);
    if (refuses_long_ && frame_bytes == kPortBytes) PathProbe::refused(peer);
  }
  void path_narrowed(Peer& peer) noexcept override { narrowed_.push_back(rank_of(peer)); }
  void path_has_hole(Peer& peer) noexcept override { holes_.push_back(rank_of(peer)); }
  Rank rank_of(const Peer& peer) const { return static_cast<Rank>(&peer - peers_.data()); }

  bool want(Rank rank = 0) { return paths_.want(peers_[rank], now_ns_); }
  void answer(uint32_t bytes, Rank rank = 0) { paths_.take_answer(peers_[rank], bytes, now_ns_); }
  void lose(uint32_t frame_bytes) { paths_.note_loss(peers_[0], frame_bytes, now_ns_); }
  /// Goes to the time at which the pair of the peer is judged.
  void judge(Rank rank = 0) {
    now_ns_ = std::max(now_ns_, peers_[rank].probe_at_ns);
    next_ns_ = paths_.run(now_ns_);
  }
  /// Pairs of which the peer gets the short probe alone.
  void half_answer(uint32_t pairs) {
    for (uint32_t i = 0; i < pairs; ++i) {
      answer(kPathBytes);
      judge();
    }
  }
  void open() {
    ASSERT_TRUE(want());
    answer(kPortBytes);
    paths_.run(now_ns_);
    now_ns_ += kSecond;
    probes_.clear();
  }
  uint32_t pairs_sent() const { return static_cast<uint32_t>(probes_.size()) / 2; }

  uint64_t now_ns_ = 10 * kSecond;
  uint64_t next_ns_ = 0;
  Random random_{1};
  std::vector<Peer> peers_ = std::vector<Peer>(kRanks);
  std::vector<std::pair<Rank, uint32_t>> probes_;
  std::vector<Rank> narrowed_, holes_;
  bool refuses_long_ = false;
  PathProbe paths_;
};

TEST_F(ProbedPaths, BeginNarrowUnlessThePortsCarryNoLongFrames) {
  EXPECT_EQ(peers_[0].path_bytes, kPathBytes);
  peers_[1].frame_bytes_max = 1000;
  paths_.start(peers_[1]);
  EXPECT_EQ(peers_[1].path_bytes, 1000);
  peers_[2].frame_bytes_max = kPathBytes;
  paths_.start(peers_[2]);
  EXPECT_FALSE(want(2)) << "no frame is longer than what every path carries";
}

TEST_F(ProbedPaths, APairIsAShortProbeAndALongOneAndIsSentOnce) {
  EXPECT_FALSE(paths_.is_probing());
  EXPECT_TRUE(want(1));
  EXPECT_EQ(probes_, (std::vector<std::pair<Rank, uint32_t>>{{1, kPathBytes}, {1, kPortBytes}}));
  EXPECT_TRUE(paths_.is_probing());
  EXPECT_EQ(peers_[1].probe_at_ns, now_ns_ + RttEstimate::kFirstRtoNs);
  now_ns_ += kSecond;
  EXPECT_FALSE(want(1)) << "a pair is under way";
  EXPECT_EQ(paths_.run(peers_[1].probe_at_ns - 1), peers_[1].probe_at_ns);
  EXPECT_EQ(pairs_sent(), 1u);
}

TEST_F(ProbedPaths, TheAnswerToTheLongProbeOpensThePath) {
  EXPECT_TRUE(want());
  answer(kPathBytes);
  EXPECT_EQ(peers_[0].path_bytes, kPathBytes);
  answer(kPortBytes);
  EXPECT_EQ(peers_[0].path_bytes, kPortBytes);
  EXPECT_EQ(paths_.run(now_ns_), ~uint64_t{0});
  EXPECT_FALSE(paths_.is_probing());
  now_ns_ += kMillisecond - 1;
  EXPECT_FALSE(want()) << "it has just been open";
  ++now_ns_;
  EXPECT_TRUE(want());
}

TEST_F(ProbedPaths, AnswersThatNobodyAskedForChangeNoPathThatIsSure) {
  peers_[0].frame_bytes_max = 1000;
  paths_.start(peers_[0]);
  for (uint32_t i = 0; i < 2 * kHolePairs; ++i) answer(60);
  EXPECT_EQ(peers_[0].path_bytes, 1000);
  EXPECT_TRUE(narrowed_.empty());
}

TEST_F(ProbedPaths, AreJudgedEachAtItsTime) {
  EXPECT_TRUE(want(0));
  now_ns_ += kMillisecond / 2;
  EXPECT_TRUE(want(2));
  EXPECT_EQ(paths_.run(now_ns_), peers_[0].probe_at_ns) << "the earlier of both";
  answer(kPathBytes, 0);
  answer(kPathBytes, 2);
  judge(0);
  EXPECT_EQ(probes_.size(), 6u);
  EXPECT_EQ(probes_.back().first, 0u);
  EXPECT_EQ(next_ns_, peers_[2].probe_at_ns);
}

TEST_F(ProbedPaths, APathThatWasOpenIsNarrowAfterTwoHalfAnswers) {
  open();
  EXPECT_TRUE(want());
  half_answer(kNarrowPairs - 1);
  EXPECT_EQ(peers_[0].path_bytes, kPortBytes);
  EXPECT_TRUE(PathProbe::has_doubts(peers_[0]));
  half_answer(1);
  EXPECT_EQ(peers_[0].path_bytes, kPathBytes);
  half_answer(3);
  EXPECT_EQ(narrowed_, std::vector<Rank>{0}) << "once";
}

TEST_F(ProbedPaths, ALongFrameThatArrivedBeginsTheCountAgain) {
  open();
  EXPECT_TRUE(want());
  half_answer(kNarrowPairs - 1);
  paths_.dispel_doubts(peers_[0], kPathBytes);
  EXPECT_TRUE(PathProbe::has_doubts(peers_[0])) << "a short one says nothing";
  paths_.dispel_doubts(peers_[0], kPathBytes + 1);
  EXPECT_FALSE(PathProbe::has_doubts(peers_[0]));
  half_answer(kNarrowPairs - 1);
  EXPECT_TRUE(narrowed_.empty());
}

TEST_F(ProbedPaths, AHoleIsToldOnceAndProbedAgainAfterTenSeconds) {
  EXPECT_TRUE(want());
  half_answer(kHolePairs - 1);
  EXPECT_TRUE(holes_.empty());
  half_answer(1);
  EXPECT_EQ(holes_, std::vector<Rank>{0});
  EXPECT_TRUE(narrowed_.empty()) << "it never was open";
  EXPECT_FALSE(paths_.is_probing());
  now_ns_ += 10 * kSecond - 1;
  EXPECT_FALSE(want());
  ++now_ns_;
  EXPECT_TRUE(want());
  half_answer(1);
  EXPECT_FALSE(paths_.is_probing());
  EXPECT_EQ(holes_.size(), 1u);
}

TEST_F(ProbedPaths, AHoleThatWasClosedIsToldAgain) {
  EXPECT_TRUE(want());
  half_answer(kHolePairs);
  now_ns_ += 10 * kSecond;
  EXPECT_TRUE(want());
  answer(kPortBytes);
  now_ns_ += kSecond;
  EXPECT_TRUE(want());
  half_answer(kHolePairs);
  EXPECT_EQ(holes_, (std::vector<Rank>{0, 0}));
  EXPECT_EQ(narrowed_, std::vector<Rank>{0});
}

TEST_F(ProbedPaths, APeerThatDoesNotAnswerIsProbedMoreAndMoreRarely) {
  EXPECT_TRUE(want());
  judge();
  EXPECT_EQ(pairs_sent(), 2u);
  judge();
  EXPECT_EQ(pairs_sent(), 2u);
  EXPECT_FALSE(paths_.is_probing());
  EXPECT_EQ(peers_[0].probe_at_ns, now_ns_ + 10 * kMillisecond);
  const auto pause_ns = [this] {
    now_ns_ = peers_[0].probe_at_ns;
    EXPECT_TRUE(want());
    for (int i = 0; i < 2 && paths_.is_probing(); ++i) judge();
    return peers_[0].probe_at_ns - now_ns_;
  };
  EXPECT_EQ(pause_ns(), 20 * kMillisecond);
  for (int i = 0; i < 200; ++i) pause_ns();
  EXPECT_EQ(pause_ns(), 10'240 * kMillisecond) << "and no more rarely";
  EXPECT_TRUE(narrowed_.empty() && holes_.empty()) << "nothing is learnt";
}

TEST_F(ProbedPaths, APairThatThePortRefusedTellsNothing) {
  refuses_long_ = true;
  EXPECT_TRUE(want());
  half_answer(2 * kHolePairs);
  EXPECT_EQ(pairs_sent(), 1 + 2 * kHolePairs);
  EXPECT_TRUE(holes_.empty());
  refuses_long_ = false;
  judge();
  half_answer(kHolePairs);
  EXPECT_EQ(holes_.size(), 1u);
}

TEST_F(ProbedPaths, OnAnOpenPathTheFramesThatWereLostSpeakForARefusedProbe) {
  open();
  refuses_long_ = true;
  EXPECT_TRUE(want());
  half_answer(kNarrowPairs);
  EXPECT_EQ(narrowed_.size(), 1u);
}

TEST_F(ProbedPaths, AnAnswerThatCameLateCountsAndAnotherPairMayGo) {
  EXPECT_TRUE(want());
  judge();
  judge();
  EXPECT_FALSE(want());
  answer(kPathBytes);
  EXPECT_TRUE(want());
  half_answer(kHolePairs - 1);
  EXPECT_EQ(holes_.size(), 1u) << "the late one was the tenth";
  answer(kPathBytes);
  EXPECT_FALSE(want()) << "a hole is known: such answers are no news";
}

TEST_F(ProbedPaths, HalfAnswersTellLittleWhileShortFramesAreLost) {
  lose(kPathBytes);
  now_ns_ += kMillisecond;
  lose(kPathBytes);
  EXPECT_TRUE(want());
  for (uint32_t i = 0; i + 1 < kCongestedPairs; ++i) {
    lose(kPathBytes);
    const uint64_t before_ns = now_ns_;
    half_answer(1);
    EXPECT_GE(peers_[0].probe_at_ns, now_ns_ + 10 * kMillisecond) << "pairs go a while apart";
    ASSERT_LE(now_ns_, before_ns + 11 * kMillisecond);
  }
  EXPECT_FALSE(PathProbe::has_doubts(peers_[0]));
  lose(kPathBytes);
  half_answer(1);
  EXPECT_TRUE(PathProbe::has_doubts(peers_[0]));
}

TEST_F(ProbedPaths, LateHalfAnswersTellNothingWhileShortFramesAreLost) {
  open();
  lose(kPathBytes);
  now_ns_ += kMillisecond;
  lose(kPathBytes);
  for (uint32_t i = 0; i < kNarrowPairs; ++i) answer(kPathBytes);
  EXPECT_FALSE(PathProbe::has_doubts(peers_[0]));
  now_ns_ += 50 * kMillisecond;
  for (uint32_t i = 0; i < kNarrowPairs; ++i) answer(kPathBytes);
  EXPECT_EQ(narrowed_.size(), 1u);
}

TEST_F(ProbedPaths, OneLossIsChanceAndDelaysPairsByAMillisecondForFive) {
  lose(kPathBytes);
  peers_[0].rtt.sample(100 * kMicrosecond);
  EXPECT_TRUE(want());
  const uint64_t lost_ns = now_ns_;
  half_answer(1);
  EXPECT_EQ(peers_[0].probe_at_ns, now_ns_ + kMillisecond);
  EXPECT_FALSE(PathProbe::has_doubts(peers_[0]));
  now_ns_ = lost_ns + 5 * kMillisecond;
  half_answer(1);
  EXPECT_TRUE(PathProbe::has_doubts(peers_[0]));
}

TEST_F(ProbedPaths, PairsBesideALossWaitForTheRoundTripWhereThatIsLonger) {
  lose(kPathBytes);
  for (int i = 0; i < 20; ++i) peers_[0].rtt.sample(3 * kMillisecond);
  EXPECT_TRUE(want());
  half_answer(1);
  EXPECT_GE(peers_[0].probe_at_ns, now_ns_ + 3 * kMillisecond);
}

TEST_F(ProbedPaths, OnlyFramesThatEveryPathCarriesTellOfCongestion) {
  open();
  lose(kPathBytes + 1);
  EXPECT_EQ(peers_[0].short_lost_us, 0u) << "it may be the path";
  lose(kPathBytes);
  EXPECT_NE(peers_[0].short_lost_us, 0u);
  paths_.retract_loss(peers_[0], kPathBytes + 1);
  EXPECT_NE(peers_[0].short_lost_us, 0u);
  paths_.retract_loss(peers_[0], kPathBytes);
  EXPECT_EQ(peers_[0].short_lost_us, 0u) << "it was overtaken";
  EXPECT_TRUE(want());
  half_answer(kNarrowPairs);
  EXPECT_EQ(narrowed_.size(), 1u);
  lose(kPathBytes + 1);
  EXPECT_NE(peers_[0].short_lost_us, 0u) << "on a narrow path it went in pieces";
}

TEST_F(ProbedPaths, ThePathToADeadPeerIsProbedNoMore) {
  EXPECT_TRUE(want(0));
  EXPECT_TRUE(want(1));
  peers_[0].dead = true;
  judge(0);
  EXPECT_EQ(next_ns_, peers_[1].probe_at_ns);
  EXPECT_TRUE(std::all_of(probes_.begin() + 4, probes_.end(),
                          [](const auto& probe) { return probe.first == 1; }));
}

/// Inside one host, where no path is narrow.
class OpenPaths : public ProbedPaths {
 protected:
  OpenPaths() : ProbedPaths(true) {}
};

TEST_F(OpenPaths, AreNeverProbedAndStayOpen) {
  EXPECT_EQ(peers_[0].path_bytes, kPortBytes);
  EXPECT_FALSE(want());
  for (uint32_t i = 0; i < kHolePairs; ++i) answer(kPathBytes);
  EXPECT_EQ(peers_[0].path_bytes, kPortBytes);
  EXPECT_FALSE(paths_.is_probing());
}

}  // namespace
}  // namespace pinwire
