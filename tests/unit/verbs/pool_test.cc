// A bounded pool of connections (GASNET_QP_MAX), step by step: the least recently used one makes
// place, unless it is in use at either end, or the peer computes; nothing is lost meanwhile.
#include <cstdio>

#include "tests/unit/verbs/many_hosts.h"

namespace pinwire {
namespace {

constexpr uint32_t kTurnsMax = 20'000;

/// Of one peer for each rank, unless a test says otherwise; the lane of index 1, which has no
/// traffic, moves the connector of a rank that computes.
class PoolHosts : public ManyHosts {
 public:
  PoolHosts(Rank ranks, uint32_t peers_max, uint32_t connect_timeout_s = 600)
      : ManyHosts(ranks, 32, 1,
                  {.peers_max = peers_max, .connect_timeout_s = connect_timeout_s, .lanes = 2}) {}

  /// All but the rank that computes, of which the connector and the device work.
  void turn_others(Rank computes) {
    for (Rank rank = 0; rank < ranks(); ++rank) {
      if (rank != computes) turn(rank);
    }
    Recv none[1];
    at(computes).recv(1, RecvFilter::kAll, none);
  }
  bool send(Rank from, Rank to) { return post(from, message(from, to, MessageClass::kRequest)); }
  /// A request and its reply.
  void exchange(Rank from, Rank to) {
    const uint64_t answered = hosts_[from].answered;
    for (uint32_t turns = 0; !send(from, to); ++turns) {
      ASSERT_LT(turns, kTurnsMax) << from << " never reaches " << to;
      all_turn();
    }
    turn_until([&] { return hosts_[from].answered == answered + 1; });
  }
  template <typename Ready>
  void turn_until(Ready&& ready) {
    for (uint32_t turns = 0; !ready(); ++turns) {
      ASSERT_LT(turns, kTurnsMax) << "never";
      all_turn();
    }
  }
  template <typename Ready>
  void turn_others_until(Rank computes, Ready&& ready) {
    for (uint32_t turns = 0; !ready(); ++turns) {
      ASSERT_LT(turns, kTurnsMax) << "never";
      turn_others(computes);
    }
  }
  uint64_t handled(Rank rank) const { return hosts_[rank].handled; }
  uint64_t answered(Rank rank) const { return hosts_[rank].answered; }
  uint64_t closed(Rank rank) { return stat(rank, "connections_closed") / 2; }
  /// Turns until the rank has asked a peer to close, of which nothing but the ask itself tells.
  void ask_for_place(Rank rank, Rank newcomer, Rank computes) {
    const uint64_t sent = stat(rank, "greetings_sent");
    turn_others_until(computes, [&] {
      has_newcomer_ |= send(rank, newcomer);
      return stat(rank, "greetings_sent") != sent;
    });
    EXPECT_FALSE(has_newcomer_) << "there was a place";
  }

 private:
  bool has_newcomer_ = false;
};

class Pool : public testing::Test {
 protected:
  void SetUp() override {
    if (!fake_verbs::has_shared_receives()) GTEST_SKIP() << "connections keep their buffers";
  }
};

TEST_F(Pool, TheLeastRecentlyUsedPeerMakesPlaceAndIsMetAnew) {
  PoolHosts hosts(4, 2);
  hosts.exchange(0, 1);
  hosts.exchange(0, 2);
  hosts.exchange(0, 1);
  hosts.exchange(0, 3);
  EXPECT_EQ(hosts.closed(0), 1u);
  EXPECT_EQ(hosts.closed(2), 1u) << "used less recently than rank 1";
  EXPECT_EQ(hosts.closed(1), 0u);
  hosts.exchange(0, 2);
  EXPECT_EQ(hosts.closed(1), 1u);
  EXPECT_EQ(hosts.stat(0, "connections_made_anew"), 2u);
  EXPECT_EQ(hosts.stat("peers_over_bound"), 0u);
  EXPECT_LE(hosts.fabric().connections_max("host0"), 2 * 2 * 2u) << "2 lanes, 2 peers, 2 links";
}

TEST_F(Pool, ThePeerThatMakesPlaceMayGreetFirst) {
  PoolHosts hosts(3, 1);
  hosts.exchange(0, 1);
  hosts.exchange(0, 2);
  hosts.exchange(1, 0);
  EXPECT_EQ(hosts.closed(0), 2u);
  EXPECT_EQ(hosts.closed(1), 1u);
  EXPECT_EQ(hosts.closed(2), 1u);
  EXPECT_EQ(hosts.stat(1, "connections_made_anew"), 2u);
}

TEST_F(Pool, CreditThatWasNotReportedIsNotLostWithTheConnection) {
  // Whatever is owed at each closing, the window holds all the same in the end.
  PoolHosts hosts(3, 1);
  for (uint32_t i = 0; i < 100; ++i) {
    hosts.exchange(0, 1);
    hosts.exchange(0, 2);
  }
  EXPECT_GE(hosts.closed(0), 199u);
  EXPECT_GT(hosts.stat(1, "credit_reports"), 0u);
}

TEST_F(Pool, AsManyPeersAsThereAreIsNoBound) {
  const auto bytes = [](Rank ranks, uint32_t peers_max) {
    return PoolHosts(ranks, peers_max).stat(0, "met_peer_bytes");
  };
  EXPECT_EQ(bytes(3, 2), bytes(3, 0));
  EXPECT_GT(bytes(3, 1), bytes(3, 0));
}

TEST_F(Pool, AGetUnderWayKeepsItsConnection) {
  PoolHosts hosts(3, 1);
  hosts.exchange(0, 1);
  fake_verbs::Timing slow;
  slow.ack_max = 3000;
  hosts.fabric().set_timing(slow);
  ASSERT_TRUE(hosts.post(0, hosts.one_sided(Op::kGet, 0, 1, 4096, false)));
  hosts.exchange(0, 2);
  hosts.turn_until([&] { return hosts.finished(0) == 1; });
}

TEST_F(Pool, APeerThatComputesHoldsUpNoNewcomer) {
  PoolHosts hosts(3, 1);
  hosts.exchange(0, 1);
  uint64_t answered = hosts.answered(0);
  bool is_sent = false;
  hosts.turn_others_until(1, [&] {
    if (!is_sent) is_sent = hosts.send(0, 2);
    return hosts.answered(0) == answered + 1;
  });
  EXPECT_EQ(hosts.closed(0), 0u);
  EXPECT_EQ(hosts.stat(0, "peers_over_bound"), 1u);
  hosts.turn_until([&] { return hosts.closed(0) == 1; });  // it answers when it polls
}

TEST_F(Pool, AWithdrawalNeedsNoPollOfThePeer) {
  PoolHosts hosts(3, 1);
  hosts.exchange(0, 1);
  hosts.ask_for_place(0, 2, 1);
  const uint64_t handled = hosts.handled(1);
  hosts.turn_others_until(1, [&] { return hosts.send(0, 1); });
  EXPECT_EQ(hosts.stat(0, "closings_refused"), 1u);
  EXPECT_EQ(hosts.closed(0), 0u);
  hosts.turn_until([&] { return hosts.handled(1) == handled + 1; });
}

/// As where both leave: each says so to the other while one has asked.
TEST_F(Pool, MessagesOfBothEndsThatCrossAnAskArrive) {
  PoolHosts hosts(3, 1);
  hosts.exchange(0, 1);
  hosts.ask_for_place(0, 2, 1);
  const uint64_t handled[2] = {hosts.handled(0), hosts.handled(1)};
  ASSERT_TRUE(hosts.send(1, 0)) << "an ask that it has not looked at changes nothing";
  bool is_sent = false;
  hosts.turn_until([&] {
    if (!is_sent) is_sent = hosts.send(0, 1);
    return hosts.handled(0) == handled[0] + 1 && hosts.handled(1) == handled[1] + 1;
  });
}

TEST_F(Pool, APeerThatDiesWhileItIsAskedIsGivenUpOnceItIsWanted) {
  PoolHosts hosts(3, 1, 1);
  hosts.exchange(0, 1);
  hosts.ask_for_place(0, 2, 1);
  hosts.fabric().kill("host1");
  bool is_sent = false;
  for (uint32_t turns = 0; !is_sent; ++turns) {
    ASSERT_LT(turns, kTurnsMax);
    is_sent = hosts.send(0, 2);
    hosts.turn(0);
    hosts.turn(2);
  }
  EXPECT_EQ(hosts.at(0).failure(), nullptr) << "nobody wants it";
  for (uint32_t turns = 0; hosts.at(0).failure() == nullptr; ++turns) {
    ASSERT_LT(turns, 10 * kTurnsMax);
    EXPECT_FALSE(hosts.send(0, 1));
    hosts.turn(0);
    hosts.turn(2);
  }
  EXPECT_EQ(hosts.at(0).failure()->peer, 1u);
  std::printf("%s\n", hosts.at(0).failure()->sentence);
}

}  // namespace
}  // namespace pinwire
