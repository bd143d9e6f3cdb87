// What a wait that sleeps sleeps over, how long, and what ends it. A clock ends no sleep of these
// tests but the short ones that are about that.
#include "am/sleep.h"

#include <gtest/gtest.h>

#include <thread>

#include "am/dispatch.h"
#include "am/progress.h"
#include "core/base/event_fd.h"
#include "core/engine/engine.h"
#include "tests/support/cancel_state.h"
#include "tests/support/idle_driver.h"
#include "tests/support/stat_map.h"

namespace pinwire {
namespace {

constexpr uint32_t kNapMaxUs = 1000;

class SleepDriver final : public test::IdleDriver {
 public:
  uint32_t arms = 0, polls = 0;
  int fd = open_event_fd();
  bool wakes = true;
  bool may_be_cancelled = true;  ///< at the last arm()
  /// What a poll finds and a handler of a client would count.
  DoneCount* found = nullptr;

  ~SleepDriver() override { ::close(fd); }
  int event_fd(uint32_t) const noexcept override { return fd; }
  Armed arm(uint32_t) noexcept override {
    ++arms;
    may_be_cancelled = test::may_be_cancelled();
    return Armed::kArmed;
  }
  uint32_t recv(uint32_t, RecvFilter, std::span<Recv>) noexcept override {
    ++polls;
    return 0;
  }
  uint32_t done(uint32_t, std::span<Done> out) noexcept override {
    if (found == nullptr) return 0;
    out[0] = {cookie_of(*found)};
    found = nullptr;
    if (wakes) ring_event_fd(fd);
    return 1;
  }
};

class Sleep : public testing::Test {
 protected:
  void SetUp() override {
    engine.drivers[0].driver = &driver;
    engine.drivers[0].caps.event_fd = true;
    engine.driver_count = 1;
    let_waits_sleep(true);
    sleep_us_max = 50;
    rest(0);  // looks alone
    driver.arms = driver.polls = 0;
    this_thread.nap_us = 0;
  }
  void TearDown() override {
    sleep_us_max = 100'000;
    let_waits_sleep(false);
    engine.drivers[0].driver = nullptr;
    engine.drivers[0].caps = {};
    engine.driver_count = 0;
  }
  static uint64_t count(const char* name) {
    StatMap map;
    report_waits(map);
    return map.values[name];
  }

  SleepDriver driver;
};

TEST_F(Sleep, IsOverAllLanes) {
  const uint64_t sleeps = count("sleeps");
  rest(0);
  EXPECT_EQ(driver.arms, 1u);
  EXPECT_FALSE(driver.may_be_cancelled);
  EXPECT_EQ(count("sleeps"), sleeps + 1);
}

/// It may have missed something.
TEST_F(Sleep, ThatTimeEndsLooksAtAllLanes) {
  const uint64_t overslept = count("overslept");
  rest(0);
  EXPECT_EQ(driver.polls, 1u);
  EXPECT_EQ(count("overslept"), overslept);
}

/// The doorbell rings, as something happens; but no driver told of it.
TEST_F(Sleep, ThatADriverDoesNotEndIsCounted) {
  const uint64_t overslept = count("overslept");
  DoneCount done{0};
  engine.drivers[0].lanes[0].pending = 2;
  driver.found = &done;
  driver.wakes = false;
  rest(0);
  EXPECT_EQ(done, 1u);
  EXPECT_EQ(count("overslept"), overslept + 1);
  driver.found = &done;  // comes, with its wake, as the time is over
  driver.wakes = true;
  rest(0);  // looks alone, as something has happened
  rest(0);
  EXPECT_EQ(done, 2u);
  EXPECT_EQ(count("overslept"), overslept + 1);
}

/// A peer that makes room wakes nobody: naps, each twice as long as the one before, up to a
/// millisecond; whatever wakes one makes the next short again.
TEST_F(Sleep, ThatNothingWouldEndIsANapOfGrowingLength) {
  const uint64_t naps = count("naps");
  for (const uint32_t after : {100u, 200u, 400u, 800u, 1000u, 1000u}) {
    rest(kNapMaxUs);
    EXPECT_EQ(this_thread.nap_us, after);
  }
  EXPECT_EQ(count("naps"), naps + 6);
  EXPECT_EQ(driver.polls, 0u);
  ring_event_fd(driver.fd);
  rest(kNapMaxUs);
  EXPECT_EQ(this_thread.nap_us, 50u);
}

/// The test hangs where a sleeper is forgotten. A thread that is called before it sleeps needs no
/// ring, so rings are not counted.
TEST_F(Sleep, EndsForAllThatAreCalled) {
  sleep_us_max = 1'000'000'000;
  engine.driver_count = 0;  // over their doorbells alone
  std::atomic<int> awake{0};
  std::thread sleepers[2];
  for (std::thread& sleeper : sleepers) {
    sleeper = std::thread([&] {
      while (this_thread.seen == 0) rest(0);
      rest(0);
      ++awake;
    });
  }
  note_progress();
  while (awake != 2) call_sleepers();
  for (std::thread& sleeper : sleepers) sleeper.join();
  EXPECT_EQ(awake, 2);
}

}  // namespace
}  // namespace pinwire
