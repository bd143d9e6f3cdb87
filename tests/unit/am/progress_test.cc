#include "am/progress.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "am/sleep.h"
#include "am/yield_cost.h"
#include "tests/support/idle_driver.h"
#include "tests/support/stat_map.h"

namespace {
useconds_t yield_us = 0;
uint32_t breaths = 0;
}  // namespace

/// In libc's place: as beside work of others.
extern "C" int sched_yield() noexcept {
  if (yield_us != 0) usleep(yield_us);
  return 0;
}
extern "C" int nanosleep(const timespec*, timespec*) {
  ++breaths;
  return 0;
}

namespace pinwire {
namespace {

/// Serves puts of peers, or nothing; no message ever comes.
class ServingDriver final : public test::IdleDriver {
 public:
  bool serves = false;

  bool idle(uint32_t) const noexcept override { return !serves; }
};

TEST(Poll, ServingPeersIsNotBeingIdle) {
  ServingDriver driver;
  engine.drivers[0].driver = &driver;
  engine.driver_count = 1;
  EXPECT_EQ(poll(), 0u);
  driver.serves = true;
  EXPECT_EQ(poll(), 0u) << "a driver that cannot tell must not keep waiting threads from yielding";
  engine.drivers[0].caps.tells_service = true;
  EXPECT_EQ(poll(), 1u);
  driver.serves = false;
  EXPECT_EQ(poll(), 0u);
  engine.drivers[0].caps = {};
  engine.driver_count = 0;
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

/// Of a few turns of a wait in which nothing happens.
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
  const uint32_t threads_ = engine.threads_live.load();
};

TEST_F(CrowdedWait, BreathesNowAndThen) {
  yield_us = YieldCost::kSlowUs / 4;
  constexpr uint32_t kTurnsMax = 10'000;
  for (const Wait wait : {Wait::kAwake, Wait::kAnnounced, Wait::kOfClient, Wait::kUnannounced}) {
    be(1, 0);
    uint32_t turns = 0;
    while (breaths < 3 && turns < kTurnsMax && !waits_sleep.load()) {
      pause_wait(1, wait);
      ++turns;
    }
    EXPECT_GE(breaths, waits_sleep.load() ? 0u : 3u);
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
  set_wait_mode(WaitMode::kSpin);
  EXPECT_FALSE(waits_sleep.load()) << "the client's word counts";
}

}  // namespace
}  // namespace pinwire
