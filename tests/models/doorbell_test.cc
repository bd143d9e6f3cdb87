// am/wake/doorbell.h: client threads that poll, look, lie down and sleep over one lane and their
// bells, while messages arrive and another thread polls now and then. Each waits for one message,
// whose handler any of them may run. A sleep here has no bound: a lost wake is an execution that
// never ends.
#include "am/wake/doorbell.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "tests/models/memory.h"
#include "tests/models/mutations.h"

namespace pinwire::model {
namespace {

constexpr uint32_t kMessagesMax = 2;

/// The mutants of the code around the doorbell.
enum class Fault : uint8_t {
  kNone,
  kCountsFirst,    ///< happened() before the handler
  kLooksTooLate,   ///< tests what it waits for, then looks
  kForgetsOthers,  ///< finds a message when it arms, and rings nobody
  kArmsBlindly,    ///< does not look whether something is there
};
Fault fault;

BasicDoorbell<ModelMemory> bell;
model::Atomic<uint32_t> rung[kThreadsMax];  ///< eventfds
model::Atomic<uint32_t> fds[kThreadsMax];   ///< of the seats: 0 before its thread has opened one

/// A driver's lane, with an event fd as that of shm.
struct Lane {
  static constexpr uint32_t kAwaited = 1, kOne = 2;
  model::Atomic<uint32_t> locked;
  model::Atomic<uint32_t> arrived;   ///< messages, and whether the consumer sleeps
  model::Atomic<uint32_t> readable;  ///< the pipe
  model::Atomic<uint32_t> handled;   ///< under the lock
};
Lane lane;
model::Atomic<uint32_t>
    is_done[kMessagesMax];  ///< by the handler of each message; the clients' own

bool try_lock() {
  uint32_t free = 0;
  return lane.locked.compare_exchange_strong(free, 1, std::memory_order_acquire);
}
void unlock() { lane.locked.store(0, std::memory_order_release); }
void ring(uint32_t seats) {
  for (uint32_t seat = 0; seat < kThreadsMax; ++seat) {
    if ((seats >> seat & 1) == 0) continue;
    // Without the fd nobody is rung, and the sleeper is lost.
    if (fds[seat].load(std::memory_order_relaxed) == 0) continue;
    rung[seat].store(1, std::memory_order_release);
  }
}

void send() {
  uint32_t seen = lane.arrived.load(std::memory_order_relaxed);
  while (!lane.arrived.compare_exchange_strong(seen, (seen + Lane::kOne) & ~Lane::kAwaited,
                                               std::memory_order_release)) {
  }
  if ((seen & Lane::kAwaited) != 0) lane.readable.store(1, std::memory_order_release);
}

/// Runs the handlers of what is there.
void poll() {
  const bool is_idle = lane.arrived.load(std::memory_order_relaxed) / Lane::kOne ==
                       lane.handled.load(std::memory_order_relaxed);
  if (is_idle || !try_lock()) return;
  const uint32_t there = lane.arrived.load(std::memory_order_acquire) / Lane::kOne;
  const uint32_t before = lane.handled.load(std::memory_order_relaxed);
  if (there != before) lane.handled.store(there, std::memory_order_relaxed);
  const bool found = there != before;
  if (found && fault == Fault::kCountsFirst) ring(bell.happened());
  for (uint32_t i = before; i < there; ++i) is_done[i].store(1, std::memory_order_relaxed);
  unlock();
  if (found && fault != Fault::kCountsFirst) ring(bell.happened());
}

/// All that the running thread remembers between two stages of a turn.
enum class Stage : uint8_t { kPolls, kLooks, kSleeps, kNaps, kIsBusy, kTests };
struct Self {
  uint32_t seat = 0, seen = 0;
};
Self self;
void settle_at(Stage stage) { settle(uint64_t{self.seen} << 32 | static_cast<uint64_t>(stage)); }

struct WaitSet {
  bool is_nap = false;

  bool arm() {
    is_nap = !try_lock();
    const bool may_sleep = is_nap || arm_lane();
    settle_at(is_nap ? Stage::kNaps : may_sleep ? Stage::kSleeps : Stage::kIsBusy);
    return may_sleep;
  }
  bool arm_lane() {
    lane.readable.store(0, std::memory_order_relaxed);
    uint32_t seen = lane.arrived.load(std::memory_order_relaxed);
    const uint32_t handled = lane.handled.load(std::memory_order_relaxed);
    bool is_busy = false;
    do {
      is_busy = seen / Lane::kOne != handled && fault != Fault::kArmsBlindly;
    } while (!is_busy && !lane.arrived.compare_exchange_strong(seen, seen | Lane::kAwaited,
                                                               std::memory_order_relaxed));
    unlock();
    return !is_busy;
  }
  void sleep() {
    retry([&] {
      if (rung[self.seat].load(std::memory_order_acquire) != 0) return true;
      if (!is_nap) return lane.readable.load(std::memory_order_acquire) != 0;
      return lane.locked.load(std::memory_order_relaxed) == 0;  // another nap, until it is free
    });
    rung[self.seat].store(0, std::memory_order_relaxed);
  }
  void poll() { model::poll(); }
  void ring(uint32_t seats) {
    if (fault != Fault::kForgetsOthers) model::ring(seats);
  }
};

bool is_over(uint32_t message) { return is_done[message].load(std::memory_order_relaxed) != 0; }

void wait_for(uint32_t seat, uint32_t message) {
  self = {seat};
  fds[seat].store(1, std::memory_order_relaxed);
  while (!is_over(message)) {
    settle_at(Stage::kPolls);
    poll();
    settle_at(Stage::kLooks);
    if (fault == Fault::kLooksTooLate) bell.look(self.seen);
    if (bell.look(self.seen)) park(bell, seat, self.seen, WaitSet{});
    settle_at(Stage::kTests);
  }
}

/// A thread that arms and then does not sleep: the dispatcher, or one whose wait is over.
void arm_and_leave() {
  self = {};
  WaitSet wait_set;
  if (wait_set.arm()) return;
  wait_set.ring(bell.call());
}

/// Threads that wait for a message each, or all for the same; then one that sends, and others that
/// poll once, or arm once.
struct Shape {
  uint32_t waiting, messages, polling, arming;
};

Report explore(const Shape& shape, const Mutation& mutation = {}) {
  const auto prepare = [] {
    name_cell(&bell, "bell");
    for (auto& cell : rung) name_cell(&cell, "rung");
    for (auto& cell : fds) name_cell(&cell, "fd");
    name_cell(&lane.locked, "locked");
    name_cell(&lane.arrived, "arrived");
    name_cell(&lane.readable, "readable");
    name_cell(&lane.handled, "handled");
    for (auto& cell : is_done) name_cell(&cell, "done");
  };
  const auto run = [&](uint32_t thread) {
    if (thread < shape.waiting) return wait_for(thread, thread % shape.messages);
    if (thread > shape.waiting + shape.polling) return arm_and_leave();
    if (thread > shape.waiting) return poll();
    for (uint32_t i = 0; i < shape.messages; ++i) {
      send();
      settle(i + 1);
    }
  };
  return model::explore({.threads = shape.waiting + 1 + shape.polling + shape.arming,
                         .prepare = prepare,
                         .run = run,
                         .mutation = mutation});
}

void expect_kept(const Shape& shape) {
  const Report report = explore(shape);
  std::printf("%u wait, %u messages, %u poll, %u arm: %llu executions, %llu states, %llu steps\n",
              shape.waiting, shape.messages, shape.polling, shape.arming,
              static_cast<unsigned long long>(report.executions),
              static_cast<unsigned long long>(report.states),
              static_cast<unsigned long long>(report.steps));
  EXPECT_EQ(report.failure, "") << report.trace;
  EXPECT_GT(report.executions, 0u);
}

TEST(Doorbell, OneThreadIsWokenByItsLane) {
  expect_kept({1, 1, 0, 0});
  expect_kept({1, 2, 0, 0});
}
TEST(Doorbell, OneThreadIsWokenByAnother) {
  expect_kept({1, 1, 1, 0});
  expect_kept({1, 1, 2, 0});
  expect_kept({1, 2, 1, 0});
}
TEST(Doorbell, WhoArmsTakesNoWakeFromOthers) {
  expect_kept({1, 1, 0, 1});
  expect_kept({1, 1, 1, 1});
  expect_kept({1, 1, 0, 2});
}

bool is_caught(const Shape& shape, const Mutation& mutation) {
  return !explore(shape, mutation).failure.empty();
}
bool is_caught(const Shape& shape, Fault what) {
  fault = what;
  const Report report = explore(shape);
  fault = Fault::kNone;
  return !report.failure.empty();
}

TEST(Doorbell, ItsMutantsAreCaught) {
  const Shape other_wakes{1, 1, 1, 0};
  // prepare_to_park() compares, then sets; happened() counts, then looks which threads park
  EXPECT_TRUE(is_caught(other_wakes, change("bell", Action::kCompareExchange, tear)));
  EXPECT_TRUE(is_caught(other_wakes, change("bell", Action::kModify, tear)));
  // what the handler wrote is not seen by who saw that something happened
  EXPECT_TRUE(is_caught(other_wakes, change("bell", Action::kLoad, relax)));
  EXPECT_TRUE(is_caught(other_wakes, change("bell", Action::kModify, relax_if_release)));
}
TEST(Doorbell, WhoRingsSeesTheFdOfTheSeat) {
  const Shape other_wakes{1, 1, 1, 0};
  const auto relax_lie_down = [](Access& access) { relax_if_release(access); };
  EXPECT_TRUE(is_caught(other_wakes, change("bell", Action::kCompareExchange, relax_lie_down)));
  EXPECT_TRUE(is_caught(other_wakes, change("bell", Action::kModify, relax_if_acquire)));
}
/// Opens the fd of a seat that has none; a second one would be lost, for which this waits for ever.
void sit_once() {
  const uint32_t seat = bell.take_seat();
  if (fds[seat].load(std::memory_order_relaxed) == 0) {
    if (rung[seat].fetch_add(1, std::memory_order_relaxed) != 0) retry([] { return is_over(0); });
    fds[seat].store(1, std::memory_order_relaxed);
  }
  bell.leave_seat(seat);
}

TEST(Doorbell, WhoTakesASeatSeesItsFd) {
  const auto explore_seats = [](const Mutation& mutation) {
    return model::explore({.threads = 3,
                           .prepare = [] { name_cell(&is_done[0], "done"); },
                           .run = [](uint32_t) { sit_once(); },
                           .mutation = mutation});
  };
  EXPECT_EQ(explore_seats({}).failure, "");
  const auto taken = [&](Action action, void (*how)(Access&)) {
    return !explore_seats(change("?", action, how)).failure.empty();
  };
  EXPECT_TRUE(taken(Action::kCompareExchange, relax_if_acquire));
  EXPECT_TRUE(taken(Action::kModify, relax_if_release));
}
TEST(Doorbell, WrongUsesAreCaught) {
  EXPECT_TRUE(is_caught({1, 1, 1, 0}, Fault::kCountsFirst));
  EXPECT_TRUE(is_caught({1, 1, 1, 0}, Fault::kLooksTooLate));
  EXPECT_TRUE(is_caught({1, 1, 0, 1}, Fault::kArmsBlindly));
  EXPECT_TRUE(is_caught({1, 1, 0, 1}, Fault::kForgetsOthers));
}

}  // namespace
}  // namespace pinwire::model
