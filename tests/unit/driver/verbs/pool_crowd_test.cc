// Crowds under a bound of connections (GASNET_QP_MAX): whatever is closed and made anew, every
// message comes once, whole and in order, and one-sided work ends.
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "tests/unit/driver/verbs/checked_crowd.h"

namespace pinwire {
namespace {

/// Messages of a class from one rank to another come in the order in which they were sent.
class OrderedCrowd : public CheckedCrowd {
 public:
  OrderedCrowd(Rank ranks, uint32_t depth, uint64_t seed, const Limits& limits)
      : CheckedCrowd(ranks, depth, seed, limits), last_(2 * size_t{ranks} * ranks) {}

 protected:
  void on_message(Rank at, const Recv& message) override {
    CheckedCrowd::on_message(at, message);
    uint64_t head[2];
    std::memcpy(head, message.data, sizeof head);
    const auto number = static_cast<uint32_t>(head[0]) + uint64_t{1};
    if (head[0] >> 63 == 0) return;  // of meet()
    uint64_t& last =
        last_[(static_cast<size_t>(message.cls) * ranks() + at) * ranks() + message.peer];
    EXPECT_LT(last, number) << "from rank " << message.peer << " to " << at;
    last = number;
  }

 private:
  std::vector<uint64_t> last_;  // by class, target and source: the number of the last message
};

void print_stats(CheckedCrowd& crowd) {
  for (const char* name : {"connections_closed", "connections_made_anew", "closings_refused",
                           "peers_over_bound", "greetings_sent", "greetings_ignored"}) {
    std::printf("%s %llu\n", name, static_cast<unsigned long long>(crowd.stat(name)));
  }
}

struct Bound {
  Rank ranks;
  uint32_t peers_max;
  double datagrams_lost;
};

class PoolCrowd : public testing::TestWithParam<Bound> {
 protected:
  static constexpr uint32_t kRoundsMax = 400'000;

  void SetUp() override {
    if (!fake_verbs::has_shared_receives()) GTEST_SKIP() << "connections keep their buffers";
    const Bound& bound = GetParam();
    crowd_ = std::make_unique<OrderedCrowd>(bound.ranks, 32, seed(),
                                            CheckedCrowd::Limits{.peers_max = bound.peers_max});
  }
  /// POOL_SEED runs another crowd than that of the suite.
  static uint64_t seed() {
    const char* wanted = std::getenv("POOL_SEED");
    return wanted != nullptr ? std::strtoull(wanted, nullptr, 0) : GetParam().ranks;
  }
  bool has_core(Rank rank) {
    if (absent_[rank] != 0) return --absent_[rank], false;
    if (crowd_->draw(200) == 0) absent_[rank] = static_cast<uint32_t>(crowd_->draw(400));
    return true;
  }
  /// Short bursts to one peer after the other, and some time without any in between.
  void start_all(uint32_t works) {
    std::vector<uint32_t> left(crowd_->ranks(), works);
    std::vector<Rank> targets(crowd_->ranks());
    uint64_t unstarted = uint64_t{crowd_->ranks()} * works;
    for (Rank rank = 0; rank < crowd_->ranks(); ++rank) targets[rank] = crowd_->any_peer_of(rank);
    for (uint32_t round = 0; unstarted != 0; ++round) {
      ASSERT_LT(round, kRoundsMax) << unstarted << " works find no room";
      for (Rank rank = 0; rank < crowd_->ranks(); ++rank) {
        if (!has_core(rank)) continue;
        if (crowd_->draw(40) == 0) targets[rank] = crowd_->any_peer_of(rank);
        if (left[rank] != 0 && crowd_->draw(3) == 0 && crowd_->start_any(rank, targets[rank])) {
          --left[rank];
          --unstarted;
        }
        crowd_->turn(rank);
      }
    }
  }

  std::unique_ptr<OrderedCrowd> crowd_;
  std::vector<uint32_t> absent_ = std::vector<uint32_t>(GetParam().ranks);
};

TEST_P(PoolCrowd, LosesDoublesAndReordersNothing) {
  std::printf("POOL_SEED=%llu\n", static_cast<unsigned long long>(seed()));
  SCOPED_TRACE("POOL_SEED=" + std::to_string(seed()));
  fake_verbs::Timing timing;
  timing.ud_loss = GetParam().datagrams_lost;
  timing.ud_twice = GetParam().datagrams_lost;
  crowd_->fabric().set_timing(timing);
  ASSERT_NO_FATAL_FAILURE(start_all(400));
  EXPECT_TRUE(crowd_->reaches(crowd_->expected()));
  crowd_->expect_each_once();
  print_stats(*crowd_);
  EXPECT_GT(crowd_->stat("connections_made_anew"), 0u);
}

INSTANTIATE_TEST_SUITE_P(Bounds, PoolCrowd,
                         testing::Values(Bound{4, 1, 0}, Bound{5, 2, 0.2}, Bound{6, 2, 0},
                                         Bound{8, 4, 0.1}, Bound{12, 3, 0}));

/// All ranks send to all others in turn, which is the worst that there is under a bound: each waits
/// for one peer before it sends to the next.
TEST(PoolStorm, OfAllToAllEnds) {
  if (!fake_verbs::has_shared_receives()) GTEST_SKIP() << "connections keep their buffers";
  constexpr Rank kRanks = 6;
  constexpr uint32_t kRoundsMax = 400'000, kEach = 500;
  CheckedCrowd crowd(kRanks, 32, 1, {.peers_max = 2});
  uint32_t sent[kRanks] = {}, round = 0;
  for (; crowd.ended() != crowd.expected() || sent[0] < kEach; ++round) {
    ASSERT_LT(round, kRoundsMax) << crowd.ended() << " of " << crowd.expected();
    for (Rank rank = 0; rank < kRanks; ++rank) {
      const Rank to = (rank + 1 + sent[rank] % (kRanks - 1)) % kRanks;
      if (sent[rank] < kEach && crowd.start_request(rank, to)) ++sent[rank];
      crowd.turn(rank);
    }
  }
  crowd.expect_each_once();
  std::printf("%u rounds of polls\n", round);
  print_stats(crowd);
  EXPECT_GT(crowd.stat("connections_made_anew"), 0u);
}

/// With the threads of the connectors, as in production.
TEST(PoolThreads, ConnectAndCloseBesideTheLanes) {
  if (!fake_verbs::has_shared_receives()) GTEST_SKIP() << "connections keep their buffers";
  constexpr uint32_t kExchanges = 60, kTurnsMax = 2'000'000;
  CheckedCrowd crowd(4, 32, 7, {.peers_max = 1, .has_threads = true});
  for (uint32_t i = 0; i < kExchanges; ++i) {
    const auto from = static_cast<Rank>(crowd.draw(crowd.ranks()));
    const Rank to = crowd.any_peer_of(from);
    for (uint32_t turns = 0; !crowd.start_request(from, to); ++turns) {
      ASSERT_LT(turns, kTurnsMax) << from << " never reaches " << to;
      crowd.all_turn();
    }
    for (uint32_t turns = 0; crowd.ended() != crowd.expected(); ++turns) {
      ASSERT_LT(turns, kTurnsMax) << "message " << i << " is not answered";
      crowd.all_turn();
    }
  }
  crowd.expect_each_once();
  EXPECT_GT(crowd.stat("connections_made_anew"), 0u);
}

/// The connector's thread would poll, too.
TEST(PoolThreads, SleepWhileALaneIsPolledAndNothingIsToDo) {
  if (!fake_verbs::has_shared_receives()) GTEST_SKIP() << "connections keep their buffers";
  constexpr uint64_t kPolls = 200'000, kTriesMax = 30;
  constexpr uint64_t kMost = kPolls + kPolls / 64 + 1;  // a lane looks for what completes silently
  CheckedCrowd crowd(3, 32, 7, {.peers_max = 1, .has_threads = true});
  while (!crowd.start_request(0, 1)) crowd.all_turn();
  ASSERT_TRUE(crowd.reaches(crowd.expected()));
  uint64_t seen = kMost + 1;
  for (uint64_t tries = 0; seen > kMost && tries < kTriesMax; ++tries) {
    const uint64_t before = crowd.fabric().counters("host0").polls;
    Recv none[1];
    for (uint64_t i = 0; i < kPolls; ++i) crowd.at(0).recv(0, RecvFilter::kAll, none);
    seen = crowd.fabric().counters("host0").polls - before;
  }
  EXPECT_LE(seen, kMost);
}

}  // namespace
}  // namespace pinwire
