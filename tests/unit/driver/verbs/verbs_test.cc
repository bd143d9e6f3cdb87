// The techniques that make the driver fast, and what it must not do meanwhile; the contract itself
// is tests/unit/driver/contract_test.cc.
#include <poll.h>

#include <string>

#include "tests/unit/driver/verbs/two_hosts.h"

namespace pinwire {
namespace {

class Verbs : public TwoHosts {
 protected:
  static constexpr uint64_t kRequests = 20;

  /// Requests of rank 0 that bear their numbers, then a reply: all are at rank 1 and not taken.
  void leave_requests_and_a_reply() {
    connect();
    for (uint64_t i = 0; i < kRequests; ++i) {
      head_[0] = i;
      const Work request = message(MessageClass::kRequest);
      ASSERT_EQ(at(0).post(0, {&request, 1}), 1u);
    }
    ASSERT_TRUE(fabric_.run());
    const Work reply = message(MessageClass::kReply);
    ASSERT_EQ(at(0).post(0, {&reply, 1}), 1u);
    ASSERT_TRUE(fabric_.run());
  }
};

bool is_readable(int fd) {
  pollfd one{fd, POLLIN, 0};
  return poll(&one, 1, 0) == 1;
}

TEST_F(Verbs, ABatchToOnePeerRingsOneDoorbell) {
  connect();
  std::vector<Work> works;
  for (int i = 0; i < 10; ++i) works.push_back(message(MessageClass::kRequest));
  ASSERT_EQ(at(0).post(0, works), 10u);
  EXPECT_EQ(fabric_.counters("left").doorbells, 1u);
  EXPECT_EQ(fabric_.counters("left").send_wrs, 10u);
  turn_until([&] { return arrived(1, MessageClass::kRequest) == 10; });
}

TEST_F(Verbs, SmallMessagesAreInlineAndMostlyUnsignalled) {
  connect();
  for (uint64_t sent = 0; sent < 160;) {
    const Work work = message(MessageClass::kRequest);
    sent += at(0).post(0, {&work, 1});
    turn(0);
    turn(1);
  }
  turn_until([&] { return arrived(1, MessageClass::kRequest) == 160; });
  const auto counters = fabric_.counters("left");
  EXPECT_EQ(counters.inline_wrs, 160u);
  EXPECT_EQ(counters.signalled_wrs, 10u);
}

TEST_F(Verbs, LargePutsFromPinnedMemoryAreNotCopied) {
  connect();
  fabric_.set_trace(true);
  const Work work = put(memory_[0].data() + 100, 100'000, regions_[0].local_key);
  ASSERT_EQ(at(0).post(0, {&work, 1}), 1u);
  turn_until([&] { return done_.size() == 1; });
  const auto posted = fabric_.trace();
  ASSERT_FALSE(posted.empty());
  ASSERT_EQ(posted[0].places.size(), 1u);
  EXPECT_EQ(posted[0].places[0].addr, reinterpret_cast<uint64_t>(memory_[0].data() + 100));
  EXPECT_EQ(stat(0, "copied_bytes"), 0u);
  EXPECT_EQ(stat(0, "in_place_bytes"), 100'000u);
}

TEST_F(Verbs, WhatDrainsIsAskedForItsTail) {
  connect();
  const Work work = message(MessageClass::kRequest);
  ASSERT_EQ(at(0).post(0, {&work, 1}), 1u);
  EXPECT_FALSE(at(0).drained(0));
  turn_until([&] { return at(0).drained(0); });
  EXPECT_TRUE(fabric_.run());
  turn_until([&] { return arrived(1, MessageClass::kRequest) == 1; });
}

/// Nobody else posts to a lane's queues while its lock is held, so that the device needs no lock.
TEST_F(Verbs, EachLaneHasAThreadDomainWhereTheDeviceHasSome) {
  connect();
  EXPECT_EQ(stat(0, "thread_domains"), 1u);
  const Work work = put(memory_[0].data(), 5000, regions_[0].local_key);
  ASSERT_EQ(at(0).post(0, {&work, 1}), 1u);
  turn_until([&] { return done_.size() == 1; });
  EXPECT_EQ(done_[0].status, WorkStatus::kOk) << "what it reaches is pinned in the device's domain";
}

TEST_F(Verbs, WithoutAThreadDomainTheyWorkAsWell) {
  fabric_.deny_thread_domains("left");
  fabric_.fail(fake_verbs::Call::kAllocParentDomain, ENOMEM);  // of the other one
  connect();
  EXPECT_EQ(stat(0, "thread_domains"), 0u);
  EXPECT_EQ(stat(1, "thread_domains"), 0u);
  for (const std::string& line : fabric_.live()) EXPECT_FALSE(line.starts_with("td")) << line;
}

/// Polls of completion queues. The thread that makes connections polls one of its own, when a
/// greeting comes, and a few times at most.
class Polls : public TwoHosts {
 protected:
  Polls() {
    VerbsOptions left = options_of(0), right = options_of(1);
    left.connects_in_polls = right.connects_in_polls = false;
    open(left, right);
    const Work hello = message(MessageClass::kReply);
    turn_until([&] { return at(0).post(0, {&hello, 1}) == 1; }, ~0u);
    turn_until([&] { return arrived(1, MessageClass::kReply) == 1; }, ~0u);
    turn_until([&] { return is_met(1); }, ~0u);
    EXPECT_TRUE(fabric_.run());
  }
  uint64_t polls(Rank rank) { return fabric_.counters(rank == 0 ? "left" : "right").polls; }
  void expect_polls_of_turns(Rank rank, uint64_t least, uint64_t most) {
    constexpr uint64_t kOfGreetings = 20;
    const uint64_t before = polls(rank);
    for (uint32_t i = 0; i < kTurns; ++i) turn(rank);
    EXPECT_GE(polls(rank) - before, least);
    EXPECT_LE(polls(rank) - before, most + kOfGreetings);
  }
  static constexpr uint32_t kTurns = 1000;
};

TEST_F(Polls, ATurnOfAnIdleLaneAsksTheDeviceOnce) { expect_polls_of_turns(1, kTurns, kTurns); }

TEST_F(Polls, SilentWorkUnderWayIsLookedAfterNowAndThen) {
  const Work work = message(MessageClass::kRequest);
  ASSERT_EQ(at(0).post(0, {&work, 1}), 1u);
  expect_polls_of_turns(0, kTurns + 10, kTurns + kTurns / 20);
}

TEST_F(Polls, WorkThatSomebodyWaitsForIsLookedAfterOnceATurn) {
  fabric_.set_manual(true);
  const Work work = put(memory_[0].data(), 8, regions_[0].local_key);
  ASSERT_EQ(at(0).post(0, {&work, 1}), 1u);
  expect_polls_of_turns(0, 2 * kTurns, 2 * kTurns);
  ASSERT_TRUE(fabric_.run());
  turn(0);
  EXPECT_EQ(done_.size(), 1u);
  fabric_.set_manual(false);
}

TEST_F(Verbs, RequestsThatComeBeforeAReplyWaitUntilTheyAreWanted) {
  leave_requests_and_a_reply();
  for (uint32_t turns = 0; arrived(1, MessageClass::kReply) == 0; ++turns) {
    ASSERT_LT(turns, 10u);
    turn(1, RecvFilter::kRepliesOnly);
  }
  EXPECT_EQ(arrived(1, MessageClass::kRequest), 0u);
  EXPECT_TRUE(at(1).has_arrivals(0));
  EXPECT_EQ(at(1).arm(0), Armed::kBusy);
  for (uint64_t expected = 0; expected < kRequests; ++expected) {
    Recv one;
    ASSERT_EQ(at(1).recv(0, RecvFilter::kAll, {&one, 1}), 1u);
    EXPECT_EQ(std::memcmp(one.data, &expected, sizeof expected), 0) << "in their order";
    at(1).give_back(0, {&one, 1});
  }
  EXPECT_FALSE(at(1).has_arrivals(0));
}

/// There are more of them than a turn hands out.
TEST_F(Verbs, AReplyDoesNotWaitBehindManyRequests) {
  leave_requests_and_a_reply();
  Recv taken[8];
  ASSERT_EQ(at(1).recv(0, RecvFilter::kAll, taken), 8u);
  EXPECT_EQ(taken[0].cls, MessageClass::kReply);
  EXPECT_EQ(taken[1].cls, MessageClass::kRequest);
  at(1).give_back(0, taken);
}

/// As the dispatcher looks, which hands nothing out.
TEST_F(Verbs, ALaneWithoutArrivalsIsIdle) {
  connect();
  const auto look = [&](Rank rank) {
    at(rank).recv(0, RecvFilter::kAll, {});
    return at(rank).has_arrivals(0);
  };
  EXPECT_FALSE(look(0));
  EXPECT_TRUE(at(0).idle(0));
  const Work work = message(MessageClass::kRequest);
  ASSERT_EQ(at(0).post(0, {&work, 1}), 1u);
  ASSERT_TRUE(fabric_.run());
  EXPECT_TRUE(look(1));
  EXPECT_FALSE(at(1).idle(0));
  turn(1);
  EXPECT_EQ(arrived(1, MessageClass::kRequest), 1u);
  EXPECT_FALSE(look(1));
  EXPECT_TRUE(at(1).idle(0));
  const Work one = put(memory_[0].data(), 8, regions_[0].local_key);
  ASSERT_EQ(at(0).post(0, {&one, 1}), 1u);
  ASSERT_TRUE(fabric_.run());
  EXPECT_TRUE(look(0)) << "a Done waits";
  turn(0);
  EXPECT_EQ(done_.size(), 1u);
  EXPECT_FALSE(look(0));
  EXPECT_TRUE(at(0).idle(0));
}

TEST_F(Verbs, AReceiverThatDoesNotPollHoldsBackRequestsAlone_C1_154) {
  connect();
  uint32_t taken = 0;
  for (uint32_t tries = 0; tries < 20 * kDepth; ++tries) {
    const Work work = message(MessageClass::kRequest);
    taken += at(0).post(0, {&work, 1});
    turn(0);
  }
  EXPECT_EQ(taken, kDepth) << "the window of requests to one peer";
  // Replies and puts go on.
  const uint64_t value = 42;
  const Work one = put(&value, sizeof value, kNoRegion);
  ASSERT_EQ(at(0).post(0, {&one, 1}), 1u);
  for (uint32_t turns = 0; done_.empty(); ++turns) {
    ASSERT_LT(turns, kTurnsMax);
    turn(0);
  }
  EXPECT_EQ(std::memcmp(memory_[1].data(), &value, sizeof value), 0);
  const Work reply = message(MessageClass::kReply);
  ASSERT_EQ(at(0).post(0, {&reply, 1}), 1u);
  // A rank that waits inside a handler finds the reply before the requests.
  for (uint32_t turns = 0; arrived(1, MessageClass::kReply) == 0; ++turns) {
    ASSERT_LT(turns, kTurnsMax);
    turn(0);
    turn(1, RecvFilter::kRepliesOnly);
  }
  EXPECT_EQ(arrived(1, MessageClass::kRequest), 0u);
  turn_until([&] { return arrived(1, MessageClass::kRequest) == kDepth; });
  const Work next = message(MessageClass::kRequest);
  turn_until([&] { return at(0).post(0, {&next, 1}) == 1; });
}

TEST_F(Verbs, RequestsGoOnForMuchLongerThanTheirWindow) {
  connect();
  uint64_t sent = 0;
  turn_until([&] {
    const Work work = message(MessageClass::kRequest);
    sent += at(0).post(0, {&work, 1});
    return sent == 100 * kDepth;
  });
  turn_until([&] { return arrived(1, MessageClass::kRequest) == sent; });
  EXPECT_GE(stat(1, "credit_reports"), 100u);
  EXPECT_EQ(fabric_.counters("right").rnr_naks, 0u) << "credits keep the device out of it";
}

TEST_F(Verbs, UnpinnedMemoryGoesThroughBuffersBothWays) {
  connect();
  std::vector<std::byte> source(60'000), back(60'000);
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i * 13);
  const Work there = put(source.data(), source.size(), kNoRegion);
  ASSERT_EQ(at(0).post(0, {&there, 1}), 1u);
  turn_until([&] { return done_.size() == 1; });
  Work here = put(back.data(), back.size(), kNoRegion);
  here.op = Op::kGet;
  ASSERT_EQ(at(0).post(0, {&here, 1}), 1u);
  turn_until([&] { return done_.size() == 2; });
  EXPECT_EQ(back, source);
  EXPECT_EQ(stat(0, "in_place_bytes"), 0u);
}

TEST_F(Verbs, ManyUnpinnedTransfersWaitForBuffers) {
  connect();
  std::vector<std::byte> source(50'000, std::byte{9});
  uint32_t taken = 0;
  while (taken < 1000) {
    const Work work = put(source.data(), source.size(), kNoRegion);
    if (at(0).post(0, {&work, 1}) == 0) break;
    ++taken;
  }
  EXPECT_GT(taken, 0u);
  EXPECT_LT(taken, 1000u) << "buffers without end";
  turn_until([&] { return done_.size() == taken; });
}

TEST_F(Verbs, AtomicsByTheDevice) {
  connect();
  uint64_t old = ~uint64_t{0};
  uint64_t& word = *reinterpret_cast<uint64_t*>(memory_[1].data());
  const AtomicOperands steps[] = {{AtomicCode::kAdd, 5, 0},
                                  {AtomicCode::kCompareSwap, 11, 5},
                                  {AtomicCode::kCompareSwap, 99, 5},
                                  {AtomicCode::kGet, 0, 0}};
  const uint64_t expected_old[] = {0, 5, 11, 11};
  const uint64_t expected_word[] = {5, 11, 11, 11};
  for (size_t i = 0; i < 4; ++i) {
    Work work = put(&old, sizeof old, kNoRegion);
    work.op = Op::kFetchOp;
    work.head = &steps[i];
    work.head_bytes = sizeof steps[i];
    ASSERT_EQ(at(0).post(0, {&work, 1}), 1u);
    turn_until([&] { return done_.size() == i + 1; });
    EXPECT_EQ(old, expected_old[i]) << i;
    EXPECT_EQ(word, expected_word[i]) << i;
  }
}

TEST_F(Verbs, WhoSleepsIsWokenByAMessageOfEitherClassAndByACompletion) {
  connect();
  const uint64_t value = 1;
  for (int round = 0; round < 30; ++round) {
    while (at(1).arm(0) != Armed::kArmed) turn(1);
    while (at(0).arm(0) != Armed::kArmed) turn(0);
    EXPECT_FALSE(is_readable(at(1).event_fd(0)) && round == 0);
    const bool wakes_peer = round % 3 != 2;
    const Work work = !wakes_peer      ? put(&value, sizeof value, kNoRegion)
                      : round % 3 == 0 ? message(MessageClass::kRequest)
                                       : message(MessageClass::kReply);
    ASSERT_EQ(at(0).post(0, {&work, 1}), 1u);
    ASSERT_TRUE(fabric_.run());
    EXPECT_TRUE(is_readable(at(wakes_peer ? 1 : 0).event_fd(0))) << round;
    turn(0);
    turn(1);
  }
}

TEST_F(Verbs, WhatCameBeforeArmingIsNotSleptThrough) {
  connect();
  const Work work = message(MessageClass::kRequest);
  ASSERT_EQ(at(0).post(0, {&work, 1}), 1u);
  ASSERT_TRUE(fabric_.run());
  EXPECT_EQ(at(1).arm(0), Armed::kBusy);
  turn(1);
  EXPECT_EQ(arrived(1, MessageClass::kRequest), 1u) << "what arm() saw is handed out";
}

}  // namespace
}  // namespace pinwire
