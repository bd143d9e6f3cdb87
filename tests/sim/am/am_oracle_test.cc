// The oracle of the world of active messages is content with nicfw, and not with a driver that
// holds requests for long, as everything behind a handler that does not return waits.
#include <gtest/gtest.h>

#include "tests/sim/am/am_world.h"
#include "tests/sim/fabric/broken_driver.h"

namespace pinwire::sim {
namespace {

struct Outcome {
  bool good;
  bool broken;
  std::string sentence;
};

Outcome run_with(Break what, uint64_t seed) {
  Scenario scenario = make_scenario("calm", seed);
  scenario.ranks = 3;
  scenario.lanes = 1;
  BrokenDriver* suspect = nullptr;
  AmWorld world(scenario, [&](AmWorld& w, Rank rank) -> std::unique_ptr<Driver> {
    auto whole = AmWorld::nic(w, rank);
    if (rank != 1) return whole;
    auto broken = std::make_unique<BrokenDriver>(std::move(whole), what, 3 + seed % 5);
    suspect = broken.get();
    return broken;
  });
  const bool good = world.run();
  return {good, suspect->broken(), world.sentence()};
}

TEST(AmOracle, IsContentWithADriverThatKeepsItsPromises) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const Outcome outcome = run_with(Break::kNothing, seed);
    EXPECT_TRUE(outcome.good) << "seed " << seed << ": " << outcome.sentence;
  }
}

TEST(AmOracle, CatchesRequestsThatWaitWhileTheirRankPolls) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const Outcome outcome = run_with(Break::kHoldRequests, seed);
    ASSERT_TRUE(outcome.broken) << "seed " << seed << " gave no occasion";
    EXPECT_FALSE(outcome.good) << "seed " << seed;
    EXPECT_NE(outcome.sentence.find("whatever other ranks do"), std::string::npos)
        << "seed " << seed << ": " << outcome.sentence;
  }
}

/// A completion that never comes: its message's handler may have run, but the call waits on. A
/// reply that a room keeps (am/poll/owed.h) is waited for by nobody: its completion alone may be
/// lost.
TEST(AmOracle, CatchesCallsThatDoNotReturn) {
  uint32_t calls = 0, missed = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const Outcome outcome = run_with(Break::kDropDone, seed);
    EXPECT_TRUE(outcome.good || outcome.broken) << "seed " << seed;
    missed += outcome.good && outcome.broken;
    calls += outcome.sentence.find("the call of a") != std::string::npos;
  }
  EXPECT_GE(calls, 3u);
  EXPECT_LE(missed, 2u);
}

}  // namespace
}  // namespace pinwire::sim
