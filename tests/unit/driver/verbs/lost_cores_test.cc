// Ranks whose threads lose their cores for a while, receivers without buffers and exhausted pools
// at once, at random: all work ends, once and whole, and one-sided work of those that run does not
// wait for those that do not (C1-154).
#include <cstdio>
#include <cstdlib>

#include "tests/unit/driver/verbs/checked_crowd.h"

namespace pinwire {
namespace {

struct LostStorm {
  Rank ranks;
  uint32_t depth;
  uint32_t works;  ///< of each rank
  ManyHosts::Limits limits;
};

class LostCores : public testing::TestWithParam<LostStorm> {
 protected:
  static constexpr uint32_t kRoundsMax = 200'000, kLongAbsence = 150;

  /// LOST_CORES_SEED runs another storm than that of the suite.
  static uint64_t seed() {
    const char* wanted = std::getenv("LOST_CORES_SEED");
    return wanted != nullptr ? std::strtoull(wanted, nullptr, 0) : GetParam().ranks;
  }

  /// Each rank starts its work while others, and then itself, have no core.
  void start_all() {
    std::vector<uint32_t> left(crowd_.ranks(), GetParam().works);
    uint64_t unstarted = uint64_t{crowd_.ranks()} * GetParam().works;
    for (uint32_t round = 0; unstarted != 0; ++round) {
      ASSERT_LT(round, kRoundsMax) << unstarted << " works find no room";
      for (Rank rank = 0; rank < crowd_.ranks(); ++rank) {
        if (!has_core(rank)) continue;
        unstarted -= start_some(rank, left[rank]);
        crowd_.turn(rank);
      }
    }
  }
  /// Half of all bursts go to one that has no core, so that its buffers run out.
  Rank target_of(Rank from) {
    const Rank peer = crowd_.any_peer_of(from);
    if (crowd_.draw(2) == 0) return peer;
    for (Rank i = 0; i < crowd_.ranks(); ++i) {
      if (i != from && absent_[i] > kLongAbsence) return i;
    }
    return peer;
  }
  /// One peer at a time is kept busy, mostly a little.
  uint64_t start_some(Rank rank, uint32_t& left) {
    const Rank to = target_of(rank);
    const uint64_t burst = crowd_.draw(crowd_.draw(16) == 0 ? 1000 : 24);
    uint64_t started = 0;
    for (; started < burst && left != 0; ++started, --left) {
      if (crowd_.start_any(rank, to)) continue;
      ++refusals_;
      break;
    }
    return started;
  }
  bool has_core(Rank rank) {
    uint32_t& rounds = absent_[rank];
    if (rounds != 0) return --rounds, false;
    if (crowd_.draw(60) != 0) return true;
    rounds = static_cast<uint32_t>(crowd_.draw(crowd_.draw(8) == 0 ? 3000 : kLongAbsence));
    return true;
  }

  /// The first eighth of the ranks has no core until the others' one-sided work is done, each of
  /// which has sent to the first rank all that it may.
  void end_one_sided_of_most() {
    const Rank first = crowd_.ranks() / 8;
    for (Rank rank = first; rank < crowd_.ranks(); ++rank) {
      while (crowd_.start_request(rank, 0)) {
      }
      crowd_.turn(rank);
      crowd_.start_get(rank, 0);
    }
    bool is_under_way = true;
    for (uint32_t round = 0; is_under_way; ++round) {
      ASSERT_LT(round, 3000u) << "one-sided work waits for ranks that do not run";
      is_under_way = false;
      for (Rank rank = first; rank < crowd_.ranks(); ++rank) {
        crowd_.turn(rank);
        is_under_way = is_under_way || crowd_.has_one_sided(rank);
      }
    }
  }

  CheckedCrowd crowd_{GetParam().ranks, GetParam().depth, seed(), GetParam().limits};
  std::vector<uint32_t> absent_ = std::vector<uint32_t>(GetParam().ranks);
  uint64_t refusals_ = 0;
};

TEST_P(LostCores, DelayWorkAndLoseNone_C1_154) {
  std::printf("LOST_CORES_SEED=%llu\n", static_cast<unsigned long long>(seed()));
  SCOPED_TRACE("LOST_CORES_SEED=" + std::to_string(seed()));
  crowd_.meet();
  ASSERT_NO_FATAL_FAILURE(start_all());
  ASSERT_NO_FATAL_FAILURE(end_one_sided_of_most());
  EXPECT_TRUE(crowd_.reaches(crowd_.expected()));
  crowd_.expect_each_once();
  EXPECT_GT(refusals_, 0u) << "no pool was exhausted";
  const int receives = GetParam().limits.receives_max;
  // Where there are fewer senders than buffers, each keeps to its own.
  if (receives != 0 && receives < static_cast<int>(crowd_.ranks()) &&
      fake_verbs::has_shared_receives()) {
    EXPECT_GT(crowd_.fabric().counters().rnr_naks, 0u) << "no receiver lacked a buffer";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Crowd, LostCores,
    testing::Values(LostStorm{8, 256, 2000, {}}, LostStorm{8, 64, 1500, {.receives_max = 32}},
                    LostStorm{16, 64, 600, {.receives_max = 32, .completions_max = 512}},
                    LostStorm{32, 4, 120, {.receives_max = 48, .completions_max = 2048}},
                    LostStorm{40, 4, 60, {.receives_max = 32}}, LostStorm{32, 2, 100, {}}));

}  // namespace
}  // namespace pinwire
