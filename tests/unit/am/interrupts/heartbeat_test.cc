// am/interrupts/heartbeat.h: a rank whose client computes still drives its lanes; one whose client
// polls is left alone. tests/models/lane_lock_test.cc has the interleavings of the two threads.
#include "am/interrupts/heartbeat.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "am/poll/poll.h"
#include "core/base/clock.h"
#include "core/base/threads/membarrier.h"
#include "core/interrupts/client_threads.h"
#include "tests/support/idle_driver.h"

namespace {
constexpr uint32_t kNotedMax = 6;
std::atomic<bool> notes_sleeps{false};
std::atomic<uint32_t> sleeps_noted{0};
uint32_t slept_us[kNotedMax];
}  // namespace

/// In libc's place: while sleeps are noted, each is over at once.
extern "C" int ppoll(pollfd* fds, nfds_t count, const timespec* limit, const sigset_t* mask) {
  constexpr size_t kMaskBytes = 8;
  if (!notes_sleeps) {
    timespec left = limit != nullptr ? *limit : timespec{};  // the kernel writes there
    return static_cast<int>(
        syscall(SYS_ppoll, fds, count, limit != nullptr ? &left : nullptr, mask, kMaskBytes));
  }
  const uint32_t at = sleeps_noted;
  if (at < kNotedMax) {
    slept_us[at] = static_cast<uint32_t>(limit->tv_sec * 1'000'000 + limit->tv_nsec / 1000);
    sleeps_noted = at + 1;
  }
  return 0;
}

namespace pinwire {
namespace {

constexpr uint64_t kGapNs = 8'000'000;

/// Notes who drives it, without a lock of its own: the lane's must do.
class CountingDriver final : public test::IdleDriver {
 public:
  std::atomic<uint64_t> turns{0};
  uint64_t unlocked_turns = 0;  ///< ThreadSanitizer watches this one
  bool is_inside = false;
  bool hands_out = false;  ///< some turn had room for messages

  uint32_t recv(uint32_t, RecvFilter, std::span<Recv> out) noexcept override {
    EXPECT_FALSE(is_inside) << "two threads drive one lane";
    is_inside = true;
    ++unlocked_turns;
    turns.fetch_add(1, std::memory_order_relaxed);
    hands_out = hands_out || !out.empty();
    is_inside = false;
    return 0;
  }
};

class Heartbeat : public testing::Test {
 protected:
  void SetUp() override {
    if (!register_thread_barriers()) GTEST_SKIP() << "the kernel has no membarrier(2)";
    engine.drivers[0].driver = &driver_;
    engine.drivers[0].caps.recv_gap_ns_max = kGapNs;
    engine.driver_count = 1;
  }
  void TearDown() override {
    engine.drivers[0].caps = {};
    engine.driver_count = 0;
  }
  static void beat() { std::thread(beat_once).join(); }
  static ptrdiff_t threads() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
  }
  /// In a process of its own, which ends with 0 once the heartbeat has driven the lane so often.
  [[noreturn]] void beat_until(uint64_t turns) {
    constexpr int kPatience = 200'000;  // some 20 s
    if (!start_heartbeat().ok()) _exit(1);
    for (int i = 0; i < kPatience && driver_.turns < turns; ++i) usleep(100);
    _exit(driver_.turns < turns ? 2 : 0);
  }

  CountingDriver driver_;
};

TEST_F(Heartbeat, R1_AClientThatComputesHasItsLanesDriven) {
  poll();
  beat();  // sees that the client was there
  const uint64_t before = driver_.turns;
  for (int i = 0; i < 10; ++i) beat();
  EXPECT_EQ(driver_.turns, before + 10);
}

TEST_F(Heartbeat, ItTakesNoMessageFromTheClient) {
  beat();
  beat();
  EXPECT_GT(driver_.turns, 0u);
  EXPECT_FALSE(driver_.hands_out);
}

TEST_F(Heartbeat, AClientThatPollsIsLeftAlone) {
  for (int i = 0; i < 10; ++i) {
    const uint64_t before = driver_.turns;
    poll();
    beat();
    EXPECT_EQ(driver_.turns, before + 1) << "the client's own";
  }
}

TEST_F(Heartbeat, ItStaysOutWhileTheClientIsInside) {
  beat();
  DriverLane& lane = engine.drivers[0].lanes[0];
  ASSERT_TRUE(lane.try_lock());
  const uint64_t before = driver_.turns;
  beat();
  EXPECT_EQ(driver_.turns, before);
  lane.unlock();
}

TEST_F(Heartbeat, TheClientStaysOutWhileItIsInside) {
  DriverLane& lane = engine.drivers[0].lanes[0];
  std::thread([&] { ASSERT_TRUE(lane.try_lock_beside()); }).join();
  EXPECT_FALSE(lane.try_lock());
  EXPECT_EQ(poll(), 0u);
  EXPECT_EQ(driver_.turns, 0u);
  std::thread([&] { lane.unlock_beside(); }).join();
  ASSERT_TRUE(lane.try_lock());
  lane.unlock();
}

TEST_F(Heartbeat, DriversThatAnswerByThemselvesHaveNone) {
  engine.drivers[0].caps.recv_gap_ns_max = 0;
  EXPECT_EQ(beat_period_us(), 0u);
  beat();
  beat();
  EXPECT_EQ(driver_.turns, 0u);
  const ptrdiff_t before = threads();
  EXPECT_TRUE(start_heartbeat().ok());
  EXPECT_EQ(threads(), before);
}

TEST_F(Heartbeat, StartsInAProcessThatHasClosedItsInput) {
  const auto child = [&] {
    close(STDIN_FILENO);
    beat_until(1);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(0), "");
}

TEST_F(Heartbeat, OfALargeJobIsAtLeastAsFrequent) {
  const auto child = [&] {
    engine.rank_count = 600;
    beat_until(400);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(0), "");
}

/// A port's ring has 256 frames: of 600 peers that repeat a frame no more than that come between
/// two beats, which lie within the second in which each repeats its own.
TEST_F(Heartbeat, OfALargeJobHearsItsPeersByTurns) {
  const auto child = [&] {
    engine.rank_count = 600;
    notes_sleeps = true;
    if (!start_heartbeat().ok()) _exit(1);
    while (sleeps_noted != kNotedMax) usleep(100);
    const uint32_t period_us = beat_period_us(), gap_us = std::min(period_us, 1'000'000u) / 3;
    const uint32_t wanted_us[] = {period_us, gap_us, gap_us, period_us, gap_us, gap_us};
    _exit(std::equal(slept_us, slept_us + kNotedMax, wanted_us) ? 0 : 2);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(0), "");
  engine.drivers[0].caps.recv_gap_ns_max = 3600 * uint64_t{1'000'000'000};
  EXPECT_EXIT(child(), testing::ExitedWithCode(0), "");
}

TEST_F(Heartbeat, SeveralBeatsFitTheShortestGap) {
  EXPECT_EQ(beat_period_us(), kGapNs / 8 / 1000);
  engine.drivers[0].caps.recv_gap_ns_max = 3600 * uint64_t{1'000'000'000};
  EXPECT_EQ(beat_period_us(), 5'000'000u);
  engine.drivers[1].caps.recv_gap_ns_max = kGapNs;
  engine.driver_count = 2;
  EXPECT_EQ(beat_period_us(), kGapNs / 8 / 1000);
  std::swap(engine.drivers[0].caps, engine.drivers[1].caps);
  engine.drivers[1].caps.recv_gap_ns_max = 0;
  EXPECT_EQ(beat_period_us(), kGapNs / 8 / 1000) << "one of them needs no beats";
  engine.drivers[1].caps = {};
}

/// The thread itself, beside a client that polls and computes by turns; the last test, as it is
/// started once in a process.
TEST_F(Heartbeat, ItsThreadBeatsUntilItIsStopped) {
  ASSERT_TRUE(start_heartbeat().ok());
  for (uint64_t polls = 0, before = driver_.turns; polls < 100'000; ++polls) {
    poll();
    if (polls % 20'000 != 0) continue;
    before = driver_.turns;
    while (driver_.turns < before + 3) usleep(500);  // computes, without a call
  }
  constexpr uint32_t kBeats = 20;
  const uint64_t begin = driver_.turns;
  const uint64_t begun_us = monotonic_us();
  while (driver_.turns < begin + kBeats) usleep(100);
  EXPECT_GE(monotonic_us() - begun_us, (kBeats - 1) * uint64_t{beat_period_us()})
      << "it sleeps between beats";
  stop_heartbeat();
  const uint64_t before = driver_.turns;
  usleep(5 * kGapNs / 1000);
  EXPECT_EQ(driver_.turns, before);
}

}  // namespace
}  // namespace pinwire
