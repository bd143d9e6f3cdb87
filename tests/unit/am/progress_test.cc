#include "am/progress.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "am/sleep.h"
#include "am/yield_cost.h"
#include "tests/support/idle_driver.h"

namespace {
useconds_t yield_us = 0;
}

/// In libc's place: as beside work of others.
extern "C" int sched_yield() noexcept {
  if (yield_us != 0) usleep(yield_us);
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

/// How many of `turns` of a wait it takes until waits sleep; `turns` if they do not.
uint32_t turns_until_sleep(uint32_t turns, Wait wait) {
  for (uint32_t turn = 0; turn < turns; ++turn) {
    if (waits_sleep.load()) return turn;
    pause_wait(1, wait);
  }
  return turns;
}

TEST(Crowd, SleepsWhereYieldsAreSlow) {
  constexpr uint32_t kTurns = YieldCost::kScoreMax / YieldCost::kSlowStep;
  const uint32_t threads = engine.threads_live.load();
  engine.threads_live = 1;
  engine.spinners_max = 0;
  set_wait_mode(WaitMode::kSpin);
  EXPECT_EQ(turns_until_sleep(10 * kTurns, Wait::kAnnounced), 10 * kTurns) << "all are fast";
  yield_us = YieldCost::kSlowUs;
  EXPECT_EQ(turns_until_sleep(2 * kTurns, Wait::kAwake), 2 * kTurns) << "in handlers";
  EXPECT_EQ(turns_until_sleep(2 * kTurns, Wait::kAnnounced), kTurns);
  EXPECT_EQ(engine.spins_now.load(), 0u);
  set_wait_mode(WaitMode::kSpin);
  EXPECT_FALSE(waits_sleep.load()) << "the client's word counts";
  engine.threads_live = threads;
  engine.spinners_max = ~0u;
  set_wait_mode(WaitMode::kSpin);
  yield_us = 0;
}

}  // namespace
}  // namespace pinwire
