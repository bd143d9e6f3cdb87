#include "nicfw/receive/request_credit.h"

#include <gtest/gtest.h>

#include <vector>

namespace pinwire {
namespace {

/// The credit that a rank with 16 buffers for requests gives to four ranks, without a lane.
class CreditOfPeers : public testing::Test {
 protected:
  static constexpr uint32_t kRanks = 4, kBuffersMax = 16, kDepth = 8;
  static constexpr RequestCredit::Moment kStart{1'000'000'000, false};

  CreditOfPeers() {
    credit_.make(peers_.data(), kRanks, buffers_, 2 * kBuffersMax, kDepth, ~uint32_t{0});
    for (Peer& peer : peers_) {
      peer.requests_accepted = kFirst;
      peer.advertised = kFirst + credit_.first();
    }
  }

  static RequestCredit::Moment later(uint64_t ns, bool frames_may_wait = false) {
    return {kStart.now_ns + ns, frames_may_wait};
  }
  /// A frame with requests arrives, and is held.
  void receive(Rank rank, uint64_t now_ns = kStart.now_ns) {
    credit_.note_sender(peers_[rank], now_ns);
    credit_.spend(peers_[rank]);
    ++buffers_.held;
    ++peers_[rank].requests_held;
  }
  /// One that is given back.
  void receive_and_handle(Rank rank, uint64_t now_ns = kStart.now_ns) {
    receive(rank, now_ns);
    handle(rank);
  }
  void handle(Rank rank) {
    --buffers_.held;
    --peers_[rank].requests_held;
  }
  /// Frames that the peer may still send.
  uint32_t promised_to(Rank rank, const RequestCredit::Moment& moment = kStart) {
    if (peers_[rank].is_sender) credit_.renew(peers_[rank], moment);
    return peers_[rank].advertised - peers_[rank].requests_accepted;
  }
  std::vector<Rank> feed(const RequestCredit::Moment& moment = kStart) {
    std::vector<Rank> fed;
    credit_.feed(moment,
                 [&](const Peer& peer) { fed.push_back(static_cast<Rank>(&peer - &peers_[0])); });
    return fed;
  }
  /// A frame of the rank finds no buffer.
  void starve(Rank rank) {
    credit_.note_sender(peers_[rank], kStart.now_ns);
    credit_.withdraw(peers_[rank]);
  }

  static constexpr uint32_t kFirst = 0xffff'fffe;  ///< counts go round
  std::vector<Peer> peers_ = std::vector<Peer>(kRanks);
  RequestBuffers buffers_{0, kBuffersMax};
  RequestCredit credit_;
};

TEST(FirstCredit, IsAShareOfHalfOfTheBuffersForRequestsAndOneAtLeast) {
  EXPECT_EQ(first_credit(64, 4, 8), 4u);
  EXPECT_EQ(first_credit(64, 100, 8), 1u);
  EXPECT_EQ(first_credit(4096, 2, 8), 8u) << "no more than may be under way";
}

TEST_F(CreditOfPeers, ARankThatDoesNotSendKeepsItsFirstCredit) {
  EXPECT_EQ(credit_.first(), 2u);
  EXPECT_EQ(RequestCredit::credit_for(peers_[2]), static_cast<uint16_t>(kFirst + 2));
  EXPECT_EQ(promised_to(2), 2u);
}

TEST_F(CreditOfPeers, TheOnlySenderGetsAsManyAsMayBeUnderWay) {
  receive_and_handle(0);
  EXPECT_EQ(promised_to(0), kDepth);
}

TEST_F(CreditOfPeers, PromisesAndHeldFramesNeverExceedTheBuffers) {
  for (Rank rank = 0; rank < kRanks; ++rank) receive(rank);
  uint32_t promised = 0;
  for (Rank rank = 0; rank < kRanks; ++rank) promised += promised_to(rank);
  EXPECT_EQ(promised + buffers_.held, kBuffersMax);
  for (Rank rank = 0; rank < kRanks; ++rank) EXPECT_EQ(promised_to(rank), 3u) << "equal shares";
}

TEST_F(CreditOfPeers, WhatIsHeldOfASenderCountsTowardsItsShare) {
  for (Rank rank : {0, 1}) receive(rank);
  promised_to(0);
  for (uint32_t i = 0; i < 5; ++i) receive(0);
  EXPECT_EQ(peers_[0].requests_held + promised_to(0), 6u) << "half of what is not for idle ranks";
}

TEST_F(CreditOfPeers, AFrameWithoutCreditTakesNoPromise) {
  starve(1);
  EXPECT_EQ(peers_[1].advertised, peers_[1].requests_accepted);
  receive(1);
  EXPECT_EQ(peers_[1].advertised, peers_[1].requests_accepted);
  EXPECT_EQ(peers_[1].advertised, kFirst + 1);
}

TEST_F(CreditOfPeers, AHungrySenderIsFedWhenHalfOfItsShareIsFree) {
  buffers_.held = kBuffersMax;
  starve(1);
  EXPECT_TRUE(credit_.has_hungry());
  EXPECT_FALSE(credit_.can_feed());
  EXPECT_TRUE(feed().empty());
  EXPECT_TRUE(credit_.has_hungry());
  buffers_.held = 0;
  EXPECT_TRUE(credit_.can_feed());
  EXPECT_EQ(feed(), std::vector<Rank>{1});
  EXPECT_FALSE(credit_.has_hungry());
  EXPECT_EQ(promised_to(1), kDepth);
}

TEST_F(CreditOfPeers, HungrySendersAreFedInTurn) {
  buffers_.held = kBuffersMax;
  for (Rank rank : {2, 1, 3}) starve(rank);
  buffers_.held = 0;
  EXPECT_EQ(feed(), (std::vector<Rank>{2, 1, 3}));
}

TEST_F(CreditOfPeers, AHungryPeerThatIsGoneIsForgottenAndTheNextOneIsFed) {
  buffers_.held = kBuffersMax;
  starve(1);
  starve(2);
  credit_.forget(peers_[1]);
  peers_[1].dead = true;
  EXPECT_TRUE(credit_.can_feed());
  buffers_.held = 0;
  EXPECT_EQ(feed(), std::vector<Rank>{2});
}

TEST_F(CreditOfPeers, ASenderThatHasStoppedLosesItsPromiseForTheFirstCredit) {
  receive_and_handle(0);
  ASSERT_EQ(promised_to(0), kDepth);
  receive_and_handle(1, later(20'000'000).now_ns);
  promised_to(1, later(20'000'000));
  EXPECT_FALSE(peers_[0].is_sender);
  EXPECT_EQ(peers_[0].advertised - peers_[0].requests_accepted, credit_.first());
}

TEST_F(CreditOfPeers, ASenderKeepsItsPromiseWhileItsFramesMayWaitOrAreMissing) {
  receive_and_handle(0);
  promised_to(0, later(20'000'000, true));
  EXPECT_TRUE(peers_[0].is_sender) << "they may wait in the port";
  ArrivedAheadPool ahead;
  ahead.make(1);
  ReceiveFlow& flow = peers_[0].receive[static_cast<size_t>(Flow::kRequest)];
  flow.mark(ahead, 1);
  promised_to(0, later(20'000'000));
  EXPECT_TRUE(peers_[0].is_sender) << "one is missing";
  flow.mark(ahead, 0);
  promised_to(0, later(20'000'000));
  EXPECT_FALSE(peers_[0].is_sender);
}

TEST_F(CreditOfPeers, ASenderOfWhichAFrameIsHeldHasNotStopped) {
  receive(0);
  promised_to(0, later(20'000'000));
  EXPECT_TRUE(peers_[0].is_sender);
}

TEST_F(CreditOfPeers, ARareSenderLosesWhatExceedsItsShareWhileOthersWait) {
  receive_and_handle(0);
  ASSERT_EQ(promised_to(0), kDepth);
  for (Rank rank : {1, 2, 3}) receive_and_handle(rank, later(0).now_ns);
  promised_to(0, later(1'000'000));
  EXPECT_EQ(peers_[0].advertised - peers_[0].requests_accepted, kDepth) << "nobody waits";
  buffers_.held = kBuffersMax;
  starve(1);
  for (uint32_t looks = 0; looks < kRanks; ++looks) feed(later(1'000'000));
  EXPECT_EQ(peers_[0].advertised - peers_[0].requests_accepted, kBuffersMax / kRanks);
}

}  // namespace
}  // namespace pinwire
