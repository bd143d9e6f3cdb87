// A bounded pool of connections (GASNET_QP_MAX), step by step: the least recently used one makes
// place, unless it is in use at either end, or the peer computes; nothing is lost meanwhile.
#include "tests/unit/driver/verbs/pool_hosts.h"

namespace pinwire {
namespace {

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
  uint32_t polls = 0;
  hosts.turn_others_until(1, [&] { return ++polls, hosts.send(0, 2); });
  EXPECT_GE(polls, 200u);  // of 100 us: 20 ms, and the ask before and the greetings after them
  EXPECT_LE(polls, 300u);
  const uint64_t answered = hosts.answered(0);
  hosts.turn_others_until(1, [&] { return hosts.answered(0) == answered + 1; });
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

/// Each hears the other's after it has asked itself.
TEST_F(Pool, AsksThatCrossAreAgreedTo) {
  PoolHosts hosts(4, 1);
  hosts.exchange(0, 1);
  hosts.fabric().drop_datagrams(2);  // the first ask of each
  bool is_sent[2] = {};
  hosts.turn_until([&] {
    for (const Rank from : {0u, 1u}) is_sent[from] = is_sent[from] || hosts.send(from, from + 2);
    return is_sent[0] && is_sent[1];
  });
  EXPECT_EQ(hosts.fabric().counters().datagrams_dropped, 2u);
  EXPECT_EQ(hosts.stat("closings_refused"), 0u);
  EXPECT_EQ(hosts.stat("peers_over_bound"), 0u);
  EXPECT_EQ(hosts.closed(0), 1u);
  EXPECT_EQ(hosts.closed(1), 1u);
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

/// The peer has agreed when this rank wants to send to it again.
TEST_F(Pool, AWishThatCrossesAnAgreementIsNotForgotten) {
  PoolHosts hosts(3, 1);
  hosts.exchange(0, 1);
  hosts.ask_for_place(0, 2, 1);
  hosts.turn_until([&] { return hosts.closed(1) == 1; });  // rank 1 turns after rank 0
  EXPECT_EQ(hosts.closed(0), 0u) << "it has not heard of it";
  EXPECT_FALSE(hosts.send(0, 1));
  hosts.exchange(0, 1);
  EXPECT_GE(hosts.stat(0, "connections_made_anew"), 2u);
}

/// Its reply must not wait for another connection.
TEST_F(Pool, ARequestWhoseHandlerRunsKeepsItsConnection) {
  PoolHosts hosts(3, 1);
  hosts.exchange(1, 0);
  ASSERT_TRUE(hosts.send(1, 0));
  Driver& holder = hosts.at(0);
  Recv request[1];
  for (uint32_t turns = 0; holder.recv(0, RecvFilter::kAll, request) == 0; ++turns) {
    ASSERT_LT(turns, PoolHosts::kTurnsMax);
    hosts.turn(1);
  }
  Recv none[1];
  uint32_t polls = 0;
  for (; !hosts.send(0, 2); ++polls) {
    ASSERT_LT(polls, PoolHosts::kTurnsMax);
    ASSERT_EQ(holder.recv(0, RecvFilter::kRepliesOnly, none), 0u);
    hosts.turn(1);
    hosts.turn(2);
  }
  EXPECT_EQ(hosts.stat(0, "peers_over_bound"), 1u);
  EXPECT_EQ(hosts.closed(0), 0u);
  // A poll is 100 us where no thread has a clock: 50 ms, and the greetings.
  EXPECT_GE(polls, 500u);
  EXPECT_LE(polls, 600u);
  EXPECT_TRUE(hosts.post(0, hosts.message(0, 1, MessageClass::kReply)));
  holder.give_back(0, request);
  hosts.turn_until([&] { return hosts.answered(1) == 2 && hosts.closed(0) == 1; });
}

}  // namespace
}  // namespace pinwire
