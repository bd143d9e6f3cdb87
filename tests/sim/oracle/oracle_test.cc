// The oracle is worth only what it catches: with a driver that keeps every promise it must be
// content, with one that breaks any single promise once it must not.
#include <gtest/gtest.h>

#include "tests/sim/fabric/broken_driver.h"
#include "tests/sim/fabric/ideal_driver.h"
#include "tests/sim/world.h"

namespace pinwire::sim {
namespace {

struct Outcome {
  bool good;
  bool broken;
  std::string sentence;
  uint64_t still_ns;  ///< since anything moved
};

Scenario scenario_for(Break what, uint64_t seed) {
  Scenario scenario = make_scenario("calm", seed);
  scenario.ranks = 3;
  scenario.lanes = 1;  // an ideal driver has no more
  scenario.operations = 300;
  scenario.window_bytes = 256;  // small: every byte is written many times over
  const bool is_slow = what == Break::kDelayOperation || what == Break::kHoldRequests;
  scenario.stuck_ns = is_slow ? 50'000'000'000 : 50'000'000;
  scenario.post_alone = what == Break::kRepeatInVain ? 0 : 0.02;  // silence explains repeats
  scenario.poll_alone = 0.2;
  scenario.post_each = true;
  scenario.abandon = 1;
  scenario.lend = 0.2;
  scenario.fence = 0.3;
  return scenario;
}

Outcome run_with(const Scenario& scenario, Break what, uint64_t seed) {
  std::unique_ptr<IdealNetwork> network;
  BrokenDriver* suspect = nullptr;
  World world(scenario, [&](World& w, Rank rank) -> std::unique_ptr<Driver> {
    if (!network) network = std::make_unique<IdealNetwork>(w.clock(), scenario.ranks, seed);
    auto ideal = std::make_unique<IdealDriver>(*network, rank);
    if (rank != 1) return ideal;
    auto broken = std::make_unique<BrokenDriver>(std::move(ideal), what, 3 + seed % 5);
    suspect = broken.get();
    return broken;
  });
  const bool good = world.run();
  const uint64_t still_ns = world.clock().now() - world.cluster().last_progress_ns;
  return {good, suspect->broken(), world.sentence(), still_ns};
}

Outcome run_with(Break what, uint64_t seed) {
  return run_with(scenario_for(what, seed), what, seed);
}

/// Words that the sentence about a broken promise must have where another check might catch it by
/// chance.
const char* word_of(Break what) {
  switch (what) {
    case Break::kPassFence:
      return "is fenced";
    case Break::kDeclareDead:
      return "gave up";
    case Break::kNeverDrained:
      return "not drained";
    case Break::kKeepLent:
      return "at first it lent";
    case Break::kDelayOperation:
    case Break::kHoldRequests:
      return "whatever other ranks do";
    case Break::kRepeatInVain:
      return "were repeated";
    default:
      return "";
  }
}

class OracleCatches : public testing::TestWithParam<Break> {};

TEST(Oracle, IsContentWithADriverThatKeepsItsPromises) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const Outcome outcome = run_with(Break::kNothing, seed);
    EXPECT_TRUE(outcome.good) << "seed " << seed << ": " << outcome.sentence;
  }
}

TEST_P(OracleCatches, ABrokenPromise) {
  uint32_t caught = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const Outcome outcome = run_with(GetParam(), seed);
    ASSERT_TRUE(outcome.broken) << "seed " << seed << " gave no occasion";
    caught += !outcome.good && outcome.sentence.find(word_of(GetParam())) != std::string::npos;
    if (caught == 1 && !outcome.good) RecordProperty("first", outcome.sentence);
  }
  // Damage that later correct traffic happens to repair is no damage; nothing else may slip
  // through.
  const bool repairable = GetParam() == Break::kRepeatPut || GetParam() == Break::kLosePut ||
                          GetParam() == Break::kTearPut || GetParam() == Break::kStrayPut ||
                          GetParam() == Break::kEarlyDone || GetParam() == Break::kAlterGet ||
                          GetParam() == Break::kChangeHeld || GetParam() == Break::kPassFence;
  EXPECT_GE(caught, repairable ? 3u : 10u);
}

/// World::check_alive() sees only that nothing moves at all. A client that is stuck while others go
/// on is found by the deadlines: whatever an unfinished client waits for has one.
TEST(Oracle, FindsAClientThatIsStuckWhileOthersGoOn) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Scenario scenario = scenario_for(Break::kDropDone, seed);
    scenario.operations = 100'000;
    scenario.poll_ns = 20'000;
    const Outcome outcome = run_with(scenario, Break::kDropDone, seed);
    EXPECT_FALSE(outcome.good) << "seed " << seed;
    EXPECT_NE(outcome.sentence.find("an operation of rank 1"), std::string::npos)
        << "seed " << seed << ": " << outcome.sentence;
    EXPECT_LT(outcome.still_ns, 1'000'000u) << "seed " << seed << ": the others had ended";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, OracleCatches,
    testing::Values(Break::kDropMessage, Break::kDuplicateMessage, Break::kAlterMessage,
                    Break::kReroute, Break::kChangeHeld, Break::kRequestAsReply, Break::kDropDone,
                    Break::kDuplicateDone, Break::kEarlyDone, Break::kLosePut, Break::kTearPut,
                    Break::kRepeatPut, Break::kStrayPut, Break::kAlterGet, Break::kRepeatAtomic,
                    Break::kSkipAtomic, Break::kMessageBeforePut, Break::kPassFence,
                    Break::kTakeRefused, Break::kForgeMessage, Break::kDeclareDead,
                    Break::kNeverDrained, Break::kKeepLent, Break::kDelayOperation,
                    Break::kHoldRequests, Break::kRepeatInVain),
    [](const auto& tested) { return std::string(break_name(tested.param)); });

}  // namespace
}  // namespace pinwire::sim
