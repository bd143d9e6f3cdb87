#include "am/progress.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <thread>

#include "am/deferred.h"
#include "am/handlers.h"
#include "am/message.h"
#include "am/sleep.h"
#include "am/yield_cost.h"
#include "core/base/clock.h"
#include "tests/support/cancel_state.h"
#include "tests/support/idle_driver.h"
#include "tests/support/stat_map.h"

namespace {
useconds_t yield_us = 0;
uint32_t breaths = 0, yields = 0;
uint32_t cancellable = 0;  ///< breaths and handlers in which the thread could be cancelled
}  // namespace

/// In libc's place: as beside work of others.
extern "C" int sched_yield() noexcept {
  ++yields;
  if (yield_us != 0) usleep(yield_us);
  return 0;
}
extern "C" int nanosleep(const timespec*, timespec*) {
  ++breaths;
  cancellable += pinwire::test::may_be_cancelled();
  return 0;
}

namespace pinwire {
namespace {

/// Serves puts of peers, or nothing, and brings as many messages at each poll as it is told.
class ServingDriver final : public test::IdleDriver {
 public:
  bool serves = false;
  uint32_t brings = 0, polls = 0;
  uint32_t takes_at = 0;      ///< the poll from which on there is room
  bool waits_inside = false;  ///< another thread begins to wait for the lane during the poll
  RecvFilter filter = RecvFilter::kAll;  ///< of the last poll

  bool idle(uint32_t) const noexcept override { return !serves; }
  uint32_t post(uint32_t, std::span<const Work> works) noexcept override {
    return polls >= takes_at ? static_cast<uint32_t>(works.size()) : 0;
  }
  uint32_t recv(uint32_t, RecvFilter wanted, std::span<Recv> out) noexcept override {
    ++polls;
    filter = wanted;
    if (waits_inside) engine.drivers[0].lanes[0].waiting.store(1);
    AmHead head;
    const uint32_t bytes = build_head(head, Category::kShort, kHandler, 0, nullptr, 0, 0);
    std::memcpy(buffer_ + 8, head.words, bytes);
    const uint32_t count = std::min(brings, static_cast<uint32_t>(out.size()));
    for (uint32_t i = 0; i < count; ++i) out[i] = {buffer_ + 8, bytes, 1, 0, MessageClass::kReply};
    return count;
  }

  static constexpr uint8_t kHandler = 201;

 private:
  alignas(16) std::byte buffer_[64];
};

void on_nothing(pinwire_token*) { cancellable += test::may_be_cancelled(); }

struct FindingWork : Deferred {
  explicit FindingWork(uint32_t count) : found(count) {
    run = [](Deferred& work) noexcept { return static_cast<FindingWork&>(work).found; };
  }
  uint32_t found;
};

class Poll : public testing::Test {
 protected:
  void SetUp() override {
    handler_table[ServingDriver::kHandler] =
        reinterpret_cast<HandlerFunction>(reinterpret_cast<void*>(on_nothing));
    engine.drivers[0].driver = &driver;
    engine.driver_count = 1;
    engine.rank_count = 2;
    engine.routes = routes;
    routes[1].driver = &driver;
    this_thread.stream_found = this_thread.empty_polls = 0;
    this_thread.has_sent = false;
    cancellable = 0;
  }
  void TearDown() override {
    engine.drivers[0].driver = nullptr;
    engine.drivers[0].caps = {};
    engine.driver_count = 0;
    engine.rank_count = 1;
    engine.routes = nullptr;
    engine.threads_live = threads_;
    engine.spinners_max = ~0u;
    set_wait_mode(WaitMode::kSpin);
  }
  /// Waits give their core away at once.
  void crowd() {
    engine.threads_live = 1;
    engine.spinners_max = 0;
    set_wait_mode(WaitMode::kSpin);
    yields = breaths = 0;
  }
  static Work put() {
    Work work{};
    work.op = Op::kPut;
    work.flags = kWorkSilent;
    work.peer = 1;
    return work;
  }

  ServingDriver driver;
  Route routes[2];
  const uint32_t threads_ = engine.threads_live.load();
};

/// It holds the lane.
TEST_F(Poll, IsNotCancelledInHandlers) {
  const test::OtherCallers others(true);
  driver.serves = true;
  driver.brings = 3;
  EXPECT_EQ(poll(), 3u);
  EXPECT_EQ(cancellable, 0u);
  EXPECT_TRUE(test::may_be_cancelled());
}

TEST_F(Poll, KnowsOfASecondThreadThatCalls) {
  engine.thread();
  const test::OtherCallers others(false);
  std::thread([] { engine.thread(); }).join();
  EXPECT_TRUE(has_other_callers.load());
}

/// A sender waits for the lane, and may have no core at the moment in which a poller leaves it.
TEST_F(Poll, APollerThatDoesNothingElseLeavesALaneToWhoWaitsForIt) {
  driver.serves = true;
  driver.brings = kPollBatch;
  DriverLane& lane = engine.drivers[0].lanes[0];
  constexpr uint64_t kEver = ~uint64_t{0};
  EXPECT_EQ(poll_politely(), kPollBatch) << "nobody waits";
  EXPECT_EQ(poll_politely(), kPollBatch);
  lane.waiting.store(1);
  EXPECT_EQ(poll_politely(), kPollBatchWaitedFor);
  const uint64_t left_until_ns = lane.left_until_ns.load();
  EXPECT_GT(left_until_ns, 0u);
  lane.left_until_ns.store(kEver);
  EXPECT_EQ(poll_politely(), 0u) << "it is left to who waits";
  lane.left_until_ns.store(1);
  EXPECT_EQ(poll_politely(), kPollBatchWaitedFor) << "who waits has no core: messages go on";
  EXPECT_GT(lane.left_until_ns.load(), left_until_ns) << "and it is left to them again";
  lane.left_until_ns.store(kEver);
  EXPECT_EQ(poll_everything(), kPollBatchWaitedFor) << "nothing found is all there is, here";
  lane.left_until_ns.store(kEver);
  EXPECT_EQ(poll(), kPollBatchWaitedFor) << "a client may compute after it";
  lane.waiting.store(0);
  lane.left_until_ns.store(kEver);
  EXPECT_EQ(poll_politely(), kPollBatch) << "they have had it";
  lane.left_until_ns.store(0);
}

/// A turn that began when nobody waited is not measured.
TEST_F(Poll, APollerLeavesALaneForAFixedTimeToWhoBeganToWaitDuringItsTurn) {
  constexpr uint64_t kLeftNs = 20'000;
  DriverLane& lane = engine.drivers[0].lanes[0];
  driver.serves = driver.waits_inside = true;
  driver.brings = 1;
  EXPECT_EQ(poll_politely(), 1u);
  const auto now_ns = static_cast<uint64_t>(clock_ns(CLOCK_MONOTONIC));
  EXPECT_GT(lane.left_until_ns.load(), 0u);
  EXPECT_LE(lane.left_until_ns.load(), now_ns + kLeftNs);
  lane.waiting.store(0);
  lane.left_until_ns.store(0);
}

TEST_F(Poll, TellsHowMuchItFoundAndHowMuchOfWhatWasDeferredItRan) {
  driver.brings = 3;
  EXPECT_EQ(poll(), 3u);
  FindingWork work(5);
  defer(work);
  EXPECT_EQ(poll(), 8u);
}

TEST_F(Poll, LeavesTheDriversToADispatcherThatAlonePolls) {
  std::construct_at(&engine.drivers[0].lanes[0]);  // which the client of other tests has owned
  has_dispatcher = true;
  EXPECT_EQ(poll(), 0u);
  EXPECT_EQ(driver.polls, 1u);
  only_dispatcher_polls = true;
  driver.brings = 1;
  const uint32_t empty_polls = this_thread.empty_polls;
  EXPECT_EQ(poll(), 0u);
  EXPECT_EQ(driver.polls, 1u);
  EXPECT_EQ(this_thread.empty_polls, empty_polls + 1) << "its own";
  only_dispatcher_polls = has_dispatcher = false;
}

/// No request's handler runs inside another handler that waits for room.
TEST_F(Poll, InAHandlerTakesRepliesAlone_C1_153) {
  driver.brings = 1;
  EXPECT_EQ(poll(), 1u);
  EXPECT_EQ(driver.filter, RecvFilter::kAll);
  EXPECT_EQ(poll_in_handler(0, 0), 1u);
  EXPECT_EQ(driver.filter, RecvFilter::kRepliesOnly);
  EXPECT_EQ(poll(), 1u);
  this_thread.in_handler = true;
  driver.takes_at = driver.polls + 1;  // the reply finds room at the next poll
  post_in_handler(0, routes[1], put());
  this_thread.in_handler = false;
  EXPECT_EQ(driver.filter, RecvFilter::kRepliesOnly);
}

/// Only a receiver of a stream that does not send may look later; a stream ends with a dry spell.
TEST_F(Poll, KnowsAStreamByWhatItFoundSinceTheLastDrySpell) {
  driver.brings = 1;
  for (uint32_t i = 1; i <= 40; ++i) {
    poll();
    EXPECT_EQ(this_thread.stream_found, i);
  }
  driver.brings = 0;
  for (int i = 0; i < 5; ++i) poll();
  EXPECT_EQ(this_thread.stream_found, 40u);
  driver.brings = 1;
  poll();
  driver.brings = 0;
  for (int i = 0; i < 5; ++i) poll();
  EXPECT_EQ(this_thread.stream_found, 41u);
  poll();
  EXPECT_EQ(this_thread.stream_found, 0u);
  driver.brings = 7;
  poll();
  EXPECT_EQ(this_thread.stream_found, 7u);
  this_thread.has_sent = true;
  poll();
  EXPECT_EQ(this_thread.stream_found, 0u);
  EXPECT_FALSE(this_thread.has_sent);
}

/// The counts of found messages and of empty polls in a row go past their wrap: the thread goes on
/// as at the beginning of a stream, or of a wait.
TEST_F(Poll, CountsWhatItFoundAndWhatNotPastTheWrap) {
  this_thread.stream_found = ~0u - 2;
  driver.brings = 7;
  EXPECT_EQ(poll(), 7u);
  EXPECT_EQ(this_thread.stream_found, 4u);
  driver.brings = 0;
  this_thread.empty_polls = ~0u;
  EXPECT_EQ(poll(), 0u);
  EXPECT_EQ(this_thread.empty_polls, 0u);
  EXPECT_EQ(this_thread.stream_found, 4u) << "no dry spell yet";
  for (int i = 0; i < 6; ++i) poll();
  EXPECT_EQ(this_thread.stream_found, 0u);
}

TEST_F(Poll, AWaitGoesOnPastTheWrapOfItsEmptyPolls) {
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

/// Only as many threads are counted as lanes: else the lanes of the first would be given to others
/// when 2^32 have called.
TEST_F(Poll, NoThreadGetsALaneOfTheFirstOnesHoweverManyHaveCalled) {
  const uint32_t lanes = engine.lane_count, threads = engine.threads;
  engine.lane_count = 3;
  const auto lane_of_next = [] {
    uint32_t lane = 0;
    std::thread([&] { lane = engine.thread().lane; }).join();
    return lane;
  };
  engine.threads = 1;
  EXPECT_EQ(lane_of_next(), 1u);
  EXPECT_EQ(lane_of_next(), 2u);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(lane_of_next(), 2u);
  EXPECT_EQ(engine.threads, 3u) << "nothing is left to wrap";
  engine.lane_count = lanes;
  engine.threads = threads;
}

/// A client that only sends serves its peers, too (C1-159); sends that may not wait leave that to
/// the next one that may.
TEST_F(Poll, IsPartOfEachThirtySecondSend) {
  poll();
  driver.polls = 0;
  for (int i = 0; i < 40; ++i) EXPECT_TRUE(post_at_once(routes[1], put()));
  EXPECT_EQ(driver.polls, 0u);
  post_waiting(routes[1], put());
  EXPECT_EQ(driver.polls, 1u);
  for (int i = 0; i < 31; ++i) post_waiting(routes[1], put());
  EXPECT_EQ(driver.polls, 1u);
  post_waiting(routes[1], put());
  EXPECT_EQ(driver.polls, 2u);
}

TEST_F(Poll, BesideACrowdThoseThatWaitForRoomGiveTheirCoreAway) {
  crowd();
  driver.takes_at = 10;
  offer_until_taken(engine.thread(), routes[1], put());
  EXPECT_EQ(driver.polls, 10u);
  EXPECT_EQ(yields + breaths, 10u);
  crowd();
  driver.polls = 0;
  this_thread.in_handler = true;
  post_in_handler(0, routes[1], put());
  this_thread.in_handler = false;
  EXPECT_EQ(driver.polls, 10u);
  EXPECT_EQ(yields + breaths, 10u);
}

/// A client that waits by polls of its own has found nothing in many, and polls again at once.
TEST_F(Poll, BesideACrowdAClientThatWaitsByPollsGivesItsCoreAway) {
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
TEST_F(Poll, BesideACrowdAClientThatComputesBetweenItsPollsKeepsItsCore) {
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
TEST_F(Poll, AClientThatWaitsAloneKeepsItsCore) {
  crowd();
  engine.spinners_max = 1;
  for (uint32_t i = 0; i < 100 * Engine::kSpinsOfCrowd; ++i) poll_for_client();
  EXPECT_EQ(yields + breaths, 0u);
}

/// Once waits sleep, the first turn after a change only looks, and the next one naps.
TEST_F(Poll, TellsThoseThatSleepOfWhatItFound) {
  const auto rests = [] {
    StatMap map;
    report_waits(map);
    const uint64_t before = map.values["sleeps"] + map.values["naps"];
    rest(true);
    report_waits(map);
    return map.values["sleeps"] + map.values["naps"] - before;
  };
  let_waits_sleep(true);
  sleep_us_max = 50;
  rests();
  EXPECT_EQ(rests(), 1u);
  driver.brings = 0;
  poll_in_handler(0, 0);
  EXPECT_EQ(rests(), 1u);
  driver.brings = 1;
  poll_in_handler(0, 0);
  EXPECT_EQ(rests(), 0u) << "what it waits for may be there";
  driver.brings = 0;
  EXPECT_EQ(rests(), 1u);
  driver.brings = 1;
  poll_everything();
  EXPECT_EQ(rests(), 0u);
  driver.brings = 0;
  EXPECT_EQ(rests(), 1u);
  for (const uint32_t found : {1u, 2u, 0u}) {
    FindingWork work(found);
    run_or_defer(work);
    EXPECT_EQ(rests(), found == 0 ? 1u : 0u) << found;
    rests();
  }
  sleep_us_max = 100'000;
  let_waits_sleep(false);
}

TEST_F(Poll, ServingPeersIsNotBeingIdle) {
  EXPECT_EQ(poll(), 0u);
  driver.serves = true;
  EXPECT_EQ(poll(), 0u) << "a driver that cannot tell must not keep waiting threads from yielding";
  engine.drivers[0].caps.tells_service = true;
  EXPECT_EQ(poll(), 1u);
  driver.serves = false;
  EXPECT_EQ(poll(), 0u);
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
