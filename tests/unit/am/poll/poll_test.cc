#include "am/poll/poll.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "am/poll/deferred.h"
#include "am/send/post.h"
#include "am/wait/sleep.h"
#include "am/wake/sleepers.h"
#include "core/base/clock.h"
#include "tests/support/cancel_state.h"
#include "tests/support/stat_map.h"
#include "tests/unit/am/held_lane.h"
#include "tests/unit/am/polling.h"

namespace pinwire {
namespace {

using Poll = test::Polling;
using test::cancellable;

struct FindingWork : Deferred {
  explicit FindingWork(uint32_t count) : found(count) {
    run = [](Deferred& work) noexcept { return static_cast<FindingWork&>(work).found; };
  }
  uint32_t found;
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
  test::begin_handler();
  EXPECT_EQ(poll_in_handler(0, 0), 1u);
  test::end_handler();
  EXPECT_EQ(driver.filter, RecvFilter::kRepliesOnly);
  EXPECT_EQ(poll(), 1u);
  test::begin_handler();
  driver.takes_at = driver.polls + 1;  // the reply finds room at the next poll
  post_in_handler(0, routes[1], put());
  test::end_handler();
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
  test::begin_handler();
  poll_in_handler(0, 0);
  test::end_handler();
  EXPECT_EQ(rests(), 1u);
  driver.brings = 1;
  test::begin_handler();
  poll_in_handler(0, 0);
  test::end_handler();
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

}  // namespace
}  // namespace pinwire
