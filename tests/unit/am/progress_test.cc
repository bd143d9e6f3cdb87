#include "am/progress.h"

#include <gtest/gtest.h>

#include "tests/support/idle_driver.h"

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

}  // namespace
}  // namespace pinwire
