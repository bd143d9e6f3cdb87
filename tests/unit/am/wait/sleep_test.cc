// Waits that sleep: over what, how long, and what ends them. A clock ends no sleep of these tests
// but the short ones that are about that.
#include "am/wait/sleep.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string_view>
#include <thread>
#include <vector>

#include "am/message/done_count.h"
#include "am/wake/sleepers.h"
#include "core/base/descriptors/event_fd.h"
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
  uint32_t busy_lane = ~0u;      ///< whose arm() finds something to do
  /// Messages that a poll finds and a handler of a client would count.
  DoneCount* found = nullptr;

  ~SleepDriver() override { ::close(fd); }
  int event_fd(uint32_t) const noexcept override { return fd; }
  Armed arm(uint32_t lane) noexcept override {
    ++arms;
    may_be_cancelled = test::may_be_cancelled();
    return lane == busy_lane ? Armed::kBusy : Armed::kArmed;
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

bool input_is_an_event_fd() {
  char what[64] = {};
  return readlink("/proc/self/fd/0", what, sizeof what - 1) > 0 &&
         std::string_view(what).find("eventfd") != std::string_view::npos;
}

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

/// Where a driver cannot be armed, the thread polls; if others were faster, it naps over its
/// doorbell alone: what a lane that was armed before tells is nothing new.
TEST_F(Sleep, IsANapOverTheDoorbellWhereALaneHasSomethingToDo) {
  engine.drivers[0].lane_count = 2;
  driver.busy_lane = 1;
  ring_event_fd(driver.fd);
  const uint64_t sleeps = count("sleeps"), naps = count("naps");
  for (const uint32_t after : {100u, 200u}) {
    rest(0);
    EXPECT_EQ(this_thread.nap_us, after);
  }
  engine.drivers[0].lane_count = 1;
  EXPECT_EQ(driver.arms, 4u);
  EXPECT_EQ(driver.polls, 4u);
  EXPECT_EQ(count("sleeps"), sleeps);
  EXPECT_EQ(count("naps"), naps + 2);
}

/// The doorbell of the second sleeper is the descriptor 0. In a process that begins anew, as others
/// have a doorbell for each seat.
TEST_F(Sleep, EndsInAProcessThatHasClosedItsInput) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto child = [] {
    close(STDIN_FILENO);
    sleep_us_max = 1'000'000'000;
    engine.driver_count = 0;
    note_progress();
    const uint64_t sleeps = count("sleeps");
    std::thread sleepers[2];
    std::atomic<uint32_t> awake{0};
    for (std::thread& sleeper : sleepers) {
      sleeper = std::thread([&] {
        rest(0);  // looks alone
        rest(0);
        ++awake;
      });
    }
    while (count("sleeps") != sleeps + 2) std::this_thread::yield();
    while (awake != 2) call_sleepers();
    for (std::thread& sleeper : sleepers) sleeper.join();
    _exit(input_is_an_event_fd() ? 0 : 1);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(0), "");
}

/// A thread for which no seat is left wakes those that have one before it polls: what it takes may
/// be what they wait for.
TEST_F(Sleep, WakesTheOthersAlsoWhereThereIsNoSeatForAThread) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the engine changes after the sleepers have read it, which no order shows";
#endif
  constexpr uint32_t kSeats = 32, kTriesMax = 1000;
  sleep_us_max = 1'000'000'000;
  engine.driver_count = 0;
  note_progress();
  const uint64_t sleeps = count("sleeps");
  std::atomic<uint32_t> awake{0};
  std::vector<std::thread> sleepers;
  for (uint32_t i = 0; i < kSeats; ++i) {
    sleepers.emplace_back([&] {
      rest(0);  // looks alone
      rest(0);
      ++awake;
    });
  }
  while (count("sleeps") != sleeps + kSeats) std::this_thread::yield();
  engine.driver_count = 1;
  driver.busy_lane = 0;
  for (uint32_t tries = 0; awake != kSeats && tries < kTriesMax; ++tries) rest(0);
  EXPECT_EQ(awake, kSeats);
  while (awake != kSeats) call_sleepers();
  for (std::thread& sleeper : sleepers) sleeper.join();
}

/// A thread that has slept leaves its seat to the next: without one there are naps only.
TEST_F(Sleep, LeavesItsSeat) {
  constexpr uint32_t kMoreThanSeats = 40;
  const uint64_t sleeps = count("sleeps");
  for (uint32_t i = 0; i < kMoreThanSeats; ++i) rest(0);
  EXPECT_EQ(count("sleeps"), sleeps + kMoreThanSeats);
}

/// Nothing but a ring ends the sleep of this thread.
TEST_F(Sleep, ThatARingEndsIsCounted) {
  sleep_us_max = 1'000'000'000;
  engine.driver_count = 0;
  const uint64_t rings = count("rings");
  note_progress();
  std::atomic<bool> is_awake{false};
  std::thread sleeper([&] {
    rest(0);  // looks alone
    rest(0);
    is_awake = true;
  });
  while (!is_awake) call_sleepers();
  sleeper.join();
  EXPECT_GT(count("rings"), rings);
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
