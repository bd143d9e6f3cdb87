#include "am/wait/wait.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "am/wait/sleep.h"
#include "am/wait/yield_cost.h"
#include "am/wake/sleepers.h"
#include "tests/support/cancel_state.h"
#include "tests/support/stat_map.h"
#include "tests/unit/am/polling.h"

namespace {
useconds_t yield_us = 0;
}  // namespace

/// In libc's place: as beside work of others.
extern "C" int sched_yield() noexcept {
  ++pinwire::test::yields;
  if (yield_us != 0) usleep(yield_us);
  return 0;
}
extern "C" int nanosleep(const timespec*, timespec*) {
  ++pinwire::test::breaths;
  pinwire::test::cancellable += pinwire::test::may_be_cancelled();
  return 0;
}

namespace pinwire {
namespace {

using WaitByPolls = test::Polling;
using test::breaths;
using test::cancellable;
using test::yields;

TEST_F(WaitByPolls, AWaitGoesOnPastTheWrapOfItsEmptyPolls) {
  crowd();
  uint32_t empty_polls = ~0u - 1;
  after_empty_poll(empty_polls, Wait::kAwake);
  const uint32_t before = yields + breaths;
  EXPECT_GT(before, 0u) << "it gives its core away";
  after_empty_poll(empty_polls, Wait::kAwake);
  EXPECT_EQ(empty_polls, 0u);
  for (int i = 0; i < 3; ++i) after_empty_poll(empty_polls, Wait::kAwake);
  EXPECT_GT(yields + breaths, before) << "and does so again";
}

/// A client that waits by polls of its own has found nothing in many, and polls again at once.
TEST_F(WaitByPolls, BesideACrowdAClientThatWaitsByPollsGivesItsCoreAway) {
  constexpr uint32_t kPollsMax = 100'000;
  crowd();
  uint32_t polls = 0;
  for (; yields + breaths == 0 && polls < kPollsMax; ++polls) poll_for_client();
  EXPECT_GT(yields + breaths, 0u);
  EXPECT_EQ(cancellable, 0u);
  for (uint32_t i = 0; yields < 3 && i < kPollsMax; ++i) poll_for_client();
  EXPECT_GE(yields, 3u);
  driver.serves = true;
  driver.brings = 1;
  crowd();
  for (uint32_t i = 0; i < kPollsMax / 100; ++i) poll_for_client();
  EXPECT_EQ(yields + breaths, 0u) << "it finds something";
}

/// One poll more than a crowd has spins only notes when it ended: a client that computed before it
/// has waited for nothing.
TEST_F(WaitByPolls, BesideACrowdAClientThatComputesBetweenItsPollsKeepsItsCore) {
  constexpr useconds_t kLongerThanBetweenPollsUs = 10;
  crowd();
  for (uint32_t i = 0; i < 2 * Engine::kSpinsOfCrowd; ++i) {
    poll_for_client();
    usleep(kLongerThanBetweenPollsUs);
  }
  EXPECT_EQ(yields + breaths, 0u);
  for (uint32_t round = 0; round < 100; ++round) {
    this_thread.empty_polls = 0;
    for (uint32_t i = 0; i < Engine::kSpinsOfCrowd + 2; ++i) poll_for_client();
    EXPECT_EQ(yields + breaths, 0u) << round;
    usleep(kLongerThanBetweenPollsUs);
  }
}

/// Where each thread has a core of its own nobody waits for it.
TEST_F(WaitByPolls, AClientThatWaitsAloneKeepsItsCore) {
  crowd();
  engine.spinners_max = 1;
  for (uint32_t i = 0; i < 100 * Engine::kSpinsOfCrowd; ++i) poll_for_client();
  EXPECT_EQ(yields + breaths, 0u);
}

struct Crowd {
  uint32_t threads, spinners_max;
  WaitMode mode;
  uint32_t spins;
};

TEST(Spins, FollowTheModeAndTheCrowd) {
  const uint32_t threads = engine.threads_live.load();
  const Crowd kCrowds[] = {{1, 1, WaitMode::kSpinBlock, 1000},
                           {2, 1, WaitMode::kSpinBlock, Engine::kSpinsOfCrowd},
                           {2, 1, WaitMode::kBlock, 0},
                           {1, 1, WaitMode::kSpin, 20'000},
                           {1, 0, WaitMode::kSpin, 0}};
  for (const Crowd& crowd : kCrowds) {
    engine.threads_live = crowd.threads;
    engine.spinners_max = crowd.spinners_max;
    set_wait_mode(crowd.mode);
    EXPECT_EQ(engine.spins_now.load(), crowd.spins) << crowd.threads << " " << crowd.spinners_max;
  }
  engine.threads_live = threads;
  engine.spinners_max = ~0u;
  set_wait_mode(WaitMode::kSpin);
}

struct Rests {
  uint64_t sleeps, naps;
  bool operator==(const Rests&) const = default;
};

/// The rests in a few turns of a wait in which nothing happens.
Rests rests_of(Wait wait) {
  constexpr int kTurns = 3;
  const auto counted = [] {
    StatMap stats;
    report_waits(stats);
    return Rests{stats.values.at("sleeps"), stats.values.at("naps")};
  };
  pause_wait(1, wait);  // looks
  const Rests before = counted();
  for (int i = 0; i < kTurns; ++i) pause_wait(2, wait);
  const Rests after = counted();
  return {after.sleeps - before.sleeps, after.naps - before.naps};
}

TEST(Rest, IsANapWhereNobodyTellsOfTheEnd) {
  sleep_us_max = 100;
  set_wait_mode(WaitMode::kBlock);
  EXPECT_EQ(rests_of(Wait::kAnnounced), (Rests{3, 0}));
  EXPECT_EQ(rests_of(Wait::kUnannounced), (Rests{0, 3}));
  EXPECT_EQ(rests_of(Wait::kOfClient), (Rests{0, 3})) << "a peer's put may end it";
  look_us_max = 0;
  EXPECT_EQ(rests_of(Wait::kOfClient), (Rests{3, 0})) << "the client waits for handlers alone";
  look_us_max = kNapMaxUs;
  set_wait_mode(WaitMode::kSpin);
  sleep_us_max = 100'000;
}

/// How many of `turns` of a wait it takes until waits sleep; `turns` if they do not.
uint32_t turns_until_sleep(uint32_t turns, Wait wait) {
  for (uint32_t turn = 0; turn < turns; ++turn) {
    if (waits_sleep.load()) return turn;
    pause_wait(1, wait);
  }
  return turns;
}

class CrowdedWait : public testing::Test {
 protected:
  void SetUp() override { be(1, 0); }
  void TearDown() override {
    yield_us = 0;
    be(threads_, ~0u);
  }
  void be(uint32_t threads, uint32_t spinners_max) {
    engine.threads_live = threads;
    engine.spinners_max = spinners_max;
    set_wait_mode(WaitMode::kSpin);
    breaths = 0;
  }
  /// Waits sleep, and now and then one yields, to find out whether that is fast again.
  void expect_few_trials() {
    sleep_us_max = 50;
    yields = breaths = 0;
    for (uint32_t turn = 0; turn < 2 * YieldCost::kSleepsPerTrial; ++turn) {
      EXPECT_TRUE(waits_sleep.load());
      pause_wait(1, Wait::kAnnounced);
    }
    sleep_us_max = 100'000;
    EXPECT_EQ(yields + breaths, 2u);
  }
  const uint32_t threads_ = engine.threads_live.load();
};

TEST_F(CrowdedWait, BreathesNowAndThen) {
  yield_us = YieldCost::kSlowUs / 4;
  constexpr uint32_t kTurnsMax = 10'000;
  for (const Wait wait : {Wait::kAwake, Wait::kAnnounced, Wait::kOfClient, Wait::kUnannounced}) {
    be(1, 0);
    cancellable = 0;
    uint32_t turns = 0;
    while (breaths < 3 && turns < kTurnsMax && !waits_sleep.load()) {
      pause_wait(1, wait);
      ++turns;
    }
    EXPECT_GE(breaths, waits_sleep.load() ? 0u : 3u);
    EXPECT_EQ(cancellable, 0u) << "a wait is not cancelled";
    EXPECT_GE(turns, 2 * breaths) << "yields lie between";
  }
  be(1, 1);
  for (uint32_t turn = 0; turn < 100; ++turn) pause_wait(~0u, Wait::kAwake);
  EXPECT_EQ(breaths, 0u) << "nobody waits for this core";
}

TEST_F(CrowdedWait, SleepsWhereYieldsAreSlow) {
  constexpr uint32_t kTurns = YieldCost::kScoreMax / YieldCost::kSlowStep;
  EXPECT_EQ(turns_until_sleep(10 * kTurns, Wait::kAnnounced), 10 * kTurns) << "all are fast";
  yield_us = YieldCost::kSlowUs;
  EXPECT_EQ(turns_until_sleep(2 * kTurns, Wait::kAwake), 2 * kTurns) << "in handlers";
  breaths = 0;
  const uint32_t turns = turns_until_sleep(4 * kTurns, Wait::kAnnounced);
  EXPECT_GE(turns, kTurns);
  EXPECT_EQ(turns, kTurns + breaths);
  EXPECT_EQ(engine.spins_now.load(), 0u);
  expect_few_trials();
  set_wait_mode(WaitMode::kSpin);
  EXPECT_FALSE(waits_sleep.load()) << "the client's word counts";
  breaths = 0;
  const uint32_t again = turns_until_sleep(4 * kTurns, Wait::kAnnounced);
  EXPECT_EQ(again, kTurns + breaths) << "and it is learnt anew";
}

}  // namespace
}  // namespace pinwire
