// Ranks with a bounded pool of connections, moved step by step; any of them may compute meanwhile.
#pragma once

#include "tests/unit/driver/verbs/many_hosts.h"

namespace pinwire {

/// Hosts under a bound of one peer for each rank, unless a test says otherwise; the lane of index
/// 1, which has no traffic, moves the connector of a rank that computes.
class PoolHosts : public ManyHosts {
 public:
  static constexpr uint32_t kTurnsMax = 20'000;

  PoolHosts(Rank ranks, uint32_t peers_max, uint32_t connect_timeout_s = 600,
            Rank bounded_ranks = ~Rank{0})
      : ManyHosts(ranks, 32, 1,
                  {.peers_max = peers_max,
                   .bounded_ranks = bounded_ranks,
                   .connect_timeout_s = connect_timeout_s,
                   .lanes = 2}) {}

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

}  // namespace pinwire
