#include "nicfw/peer/liveness.h"

#include <gtest/gtest.h>

#include <vector>

namespace pinwire {
namespace {

/// The watch that a rank keeps over a peer, without a lane.
class WatchedPeer : public testing::Test {
 protected:
  using Presence = Liveness::Presence;
  static constexpr uint64_t kMicrosecond = 1'000, kMillisecond = 1'000'000;
  static constexpr uint64_t kSecond = 1'000'000'000, kLimitNs = kSecond;

  explicit WatchedPeer(uint64_t limit_ns = kLimitNs) {
    liveness_.make(limit_ns);
    look(10 * kSecond);
    liveness_.start_watch(peer_);
  }

  /// Polls each millisecond for so long.
  void look(uint64_t for_ns) {
    for (uint64_t ns = 0; ns < for_ns; ns += kMillisecond) {
      now_ns_ += kMillisecond;
      liveness_.poll(kMillisecond);
    }
  }
  void ask(uint32_t questions) {
    for (uint32_t i = 0; i < questions; ++i) Liveness::count_question(peer_);
  }
  Presence seek() { return liveness_.seek(peer_, now_ns_); }
  /// Seeks the peer each microsecond, until it is to be asked: after how many?
  uint64_t pause_us() {
    for (uint64_t us = 0;; ++us, now_ns_ += kMicrosecond) {
      if (seek() != Presence::kWait || us > 2'000'000) return us;
    }
  }

  Liveness liveness_;
  Peer peer_;
  uint64_t now_ns_ = 0;
};

TEST_F(WatchedPeer, IsSilentAfterTheLimitIfItWasAsked) {
  ask(Liveness::kQuestionsMin - 1);
  look(2 * kLimitNs);
  EXPECT_FALSE(liveness_.is_silent(peer_)) << "one question less says too little";
  ask(1);
  EXPECT_TRUE(liveness_.is_silent(peer_));
  EXPECT_EQ(liveness_.silent_ns(peer_), 2 * kLimitNs);
}

TEST_F(WatchedPeer, IsNotSilentBeforeTheLimit) {
  ask(0x200);
  EXPECT_EQ(peer_.timeouts_unheard, 0xff) << "the count saturates";
  look(kLimitNs - kMillisecond);
  EXPECT_FALSE(liveness_.is_silent(peer_));
  look(kMillisecond);
  EXPECT_TRUE(liveness_.is_silent(peer_));
  liveness_.start_watch(peer_);
  EXPECT_FALSE(liveness_.is_silent(peer_)) << "it was heard";
  EXPECT_EQ(peer_.timeouts_unheard, 0u);
}

TEST_F(WatchedPeer, AnHourWithoutAPollIsNoSilence) {
  ask(Liveness::kQuestionsMin);
  const uint64_t before_ns = liveness_.watch_ns();
  liveness_.poll(3600 * kSecond);
  EXPECT_EQ(liveness_.watch_ns(), before_ns + Liveness::kStepNs);
  EXPECT_FALSE(liveness_.is_silent(peer_));
}

TEST_F(WatchedPeer, LateResponsesAreAskedForOftenEnoughThatSilenceCounts) {
  const uint64_t pause_ns = kLimitNs / (2 * Liveness::kQuestionsMin);
  EXPECT_EQ(liveness_.await_responses(now_ns_), now_ns_ + pause_ns);
  EXPECT_FALSE(liveness_.is_due(now_ns_ + pause_ns - 1));
  EXPECT_TRUE(liveness_.is_due(now_ns_ + pause_ns));
  EXPECT_EQ(liveness_.due_ns(), now_ns_ + 2 * pause_ns);
  look(pause_ns - kMillisecond);
  EXPECT_FALSE(liveness_.is_late(peer_));
  look(kMillisecond);
  EXPECT_TRUE(liveness_.is_late(peer_));
}

TEST_F(WatchedPeer, IsNotAskedForAResponseWhileAnythingIsUnderWayToIt) {
  look(kSecond);
  peer_.ack_now = true;
  EXPECT_FALSE(liveness_.is_late(peer_)) << "another operation has asked";
  peer_.ack_now = false;
  ++peer_.send[0].next;
  EXPECT_FALSE(liveness_.is_late(peer_)) << "the frame asks";
  ++peer_.send[0].una;
  EXPECT_TRUE(liveness_.is_late(peer_));
}

/// With the limit that users get.
class PatientWait : public WatchedPeer {
 protected:
  PatientWait() : WatchedPeer(60 * kSecond) {}
};

TEST_F(PatientWait, AsksForResponsesOnceInASecond) {
  EXPECT_EQ(liveness_.await_responses(now_ns_), now_ns_ + kSecond);
}

/// Where nobody is ever given up.
class EndlessWait : public WatchedPeer {
 protected:
  EndlessWait() : WatchedPeer(0) {}
};

TEST_F(EndlessWait, NobodyIsSilentOrAskedForResponses) {
  ask(Liveness::kQuestionsMin);
  look(10 * kSecond);
  EXPECT_FALSE(liveness_.is_silent(peer_));
  EXPECT_EQ(liveness_.await_responses(now_ns_), ~uint64_t{0});
  EXPECT_FALSE(liveness_.is_due(now_ns_ + 3600 * kSecond));
}

TEST_F(EndlessWait, ThePeerOfACopiedPutIsAskedForEver) {
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(seek(), Presence::kAsk);
    ask(1);
    look(2 * kSecond);
  }
}

TEST_F(WatchedPeer, IsAttentiveForTwoMillisecondsOfTheLastPoll) {
  peer_.arrived_ns = now_ns_;
  EXPECT_FALSE(Liveness::is_attentive(peer_, now_ns_)) << "it was never heard";
  peer_.heard = true;
  EXPECT_TRUE(Liveness::is_attentive(peer_, now_ns_ + 2 * kMillisecond));
  EXPECT_FALSE(Liveness::is_attentive(peer_, now_ns_ + 2 * kMillisecond + 1));
}

TEST_F(WatchedPeer, IsSoughtMoreAndMoreRarely) {
  EXPECT_EQ(pause_us(), 0u);
  for (uint64_t us = 64; us <= 64u << 14; us *= 2) EXPECT_EQ(pause_us(), us);
  EXPECT_EQ(pause_us(), 64u << 14) << "and no more rarely";
  peer_.presence_asks = 0;
  EXPECT_EQ(pause_us(), 0u) << "it was heard";
}

TEST_F(WatchedPeer, IsNotSoughtWhileFramesAreInFlight) {
  ++peer_.send[1].next;
  EXPECT_EQ(seek(), Presence::kWait);
  EXPECT_EQ(peer_.presence_asks, 0u);
}

TEST_F(WatchedPeer, ThatNeverAnswersIsGone) {
  uint32_t asked = 0;
  Presence presence = seek();
  for (; presence != Presence::kGone && asked < 100; presence = seek()) {
    if (presence == Presence::kAsk) {
      ask(1);
      ++asked;
    }
    look(kMillisecond);
  }
  EXPECT_EQ(presence, Presence::kGone);
  EXPECT_GE(asked, Liveness::kQuestionsMin);
  EXPECT_GE(liveness_.silent_ns(peer_), kLimitNs);
}

TEST_F(WatchedPeer, ASearchOfLongAgoDoesNotCount) {
  EXPECT_EQ(seek(), Presence::kAsk);
  ask(Liveness::kQuestionsMin);
  look(10 * kSecond);
  EXPECT_EQ(seek(), Presence::kAsk) << "the silence is of another search";
  EXPECT_EQ(peer_.timeouts_unheard, 0u);
}

TEST_F(WatchedPeer, AMicrosecondClockThatWentHalfRoundHidesNobody) {
  EXPECT_EQ(seek(), Presence::kAsk);
  now_ns_ += (uint64_t{1} << 31) * kMicrosecond + kSecond;
  EXPECT_EQ(seek(), Presence::kAsk);
}

}  // namespace
}  // namespace pinwire
