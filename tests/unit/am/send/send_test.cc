// Messages that leave for a peer, and those of a rank to itself.
#include "am/send/send.h"

#include <gtest/gtest.h>

#include <vector>

#include "am/handlers/handlers.h"
#include "am/long/send_long.h"
#include "am/message/call.h"
#include "am/message/done_count.h"
#include "am/on_demand/on_demand.h"
#include "am/on_demand/visit.h"
#include "am/poll/poll.h"
#include "am/send/limits.h"
#include "am/send/outgoing.h"
#include "tests/unit/am/held_lane.h"
#include "tests/unit/am/one_peer.h"

namespace pinwire {
namespace {

/// The arguments of the handler of a message to oneself.
struct ToOneself {
  void* place = nullptr;
  std::vector<std::byte> payload;
  int runs = 0;
};
ToOneself to_oneself;

void on_payload(pinwire_token*, void* place, size_t bytes) {
  const auto* first = static_cast<const std::byte*>(place);
  to_oneself = {place, {first, first + bytes}, to_oneself.runs + 1};
}
/// It answers twice: the second answer is a breach.
void on_question(pinwire_token* token) {
  reply_short(*token, {202, 0, nullptr});
  reply_medium(*token, {202, 0, nullptr}, nullptr, 0);
}
pinwire_token* asked;
void on_asking(pinwire_token* token) {
  asked = token;
  reply_short(*token, {204, 0, nullptr});
}
/// A reply handler that answers the request of which it is the reply.
void on_answer(pinwire_token*) { reply_short(*asked, {202, 0, nullptr}); }
void on_nothing_more(pinwire_token*) {}

template <typename Function>
HandlerFunction handler_of(Function* function) {
  return reinterpret_cast<HandlerFunction>(reinterpret_cast<void*>(function));
}

class Sending : public test::WithOnePeer {
 protected:
  static constexpr uint8_t kPayload = 200, kQuestion = 201, kNothing = 202, kAsking = 203;
  static constexpr uint8_t kAnswer = 204;
  static constexpr Rank kPeer = test::kOnePeer;
  static constexpr uint64_t kPutMax = 1 << 20, kCopiedMax = 4 << 10, kEagerMax = 100;
  static constexpr uint64_t kDest = 0x7000'0000, kSegmentBytes = 1 << 20;

  void SetUp() override {
    driver.all_caps.send_bytes_max = kHeadBytesMax + 4096;
    driver.all_caps.put_bytes_max = kPutMax;
    driver.all_caps.copied_bytes_max = kCopiedMax;
    driver.all_caps.eager_bytes_max = kEagerMax;
    WithOnePeer::SetUp();
    routes[kPeer].segment_base = kDest;
    routes[kPeer].segment_bytes = kSegmentBytes;
    routes[kPeer].region_key = 55;
    routes[0].segment_bytes = ~uint64_t{0};
    handler_table[kPayload] = handler_of(on_payload);
    handler_table[kQuestion] = handler_of(on_question);
    handler_table[kNothing] = handler_of(on_nothing_more);
    handler_table[kAsking] = handler_of(on_asking);
    handler_table[kAnswer] = handler_of(on_answer);
    to_oneself = {};
  }
  Sent send_long(size_t bytes, bool is_async = false, DoneCount* local = nullptr,
                 Patience patience = Patience::kWaits, uint64_t dest = kDest) {
    return request_long(kPeer, {kPayload, 0, nullptr, 0, patience}, source_.data(), bytes,
                        reinterpret_cast<void*>(dest), is_async, local);
  }

  std::vector<std::byte> source_ = std::vector<std::byte>(64 << 10, std::byte{7});
};

TEST_F(Sending, AMediumCarriesItsPayload) {
  EXPECT_TRUE(request_medium(kPeer, {kPayload, 0, nullptr}, source_.data(), 300));
  ASSERT_EQ(driver.messages.size(), 1u);
  const Work& work = driver.messages[0];
  EXPECT_EQ(work.local, source_.data());
  EXPECT_EQ(work.bytes, 300u);
  EXPECT_EQ(work.flags, kWorkCopied | kWorkSilent);
  EXPECT_EQ(work.cls, MessageClass::kRequest);
}

/// The handler owns the payload of a Medium, and may write to it.
TEST_F(Sending, AMediumToOneselfIsACopy) {
  EXPECT_TRUE(request_medium(0, {kPayload, 0, nullptr}, source_.data(), 300));
  EXPECT_EQ(to_oneself.payload, std::vector<std::byte>(300, std::byte{7}));
  EXPECT_NE(to_oneself.place, source_.data());
  EXPECT_TRUE(request_medium(0, {kPayload, 0, nullptr}, nullptr, 0));
  EXPECT_TRUE(to_oneself.payload.empty());
  EXPECT_EQ(to_oneself.runs, 2);
}

TEST_F(Sending, ALongToOneselfIsMovedAlsoWhereItOverlaps) {
  for (size_t i = 0; i < 100; ++i) source_[i] = static_cast<std::byte>(i);
  const std::vector<std::byte> before(source_.begin(), source_.begin() + 100);
  const Sent sent =
      request_long(0, {kPayload, 0, nullptr}, source_.data(), 100, source_.data() + 30, false);
  EXPECT_EQ(sent, Sent::kAll);
  EXPECT_EQ(to_oneself.place, source_.data() + 30);
  EXPECT_EQ(to_oneself.payload, before);
}

/// Wherever it says that its nothing lies.
TEST_F(Sending, ALongOfNothingIsAMessageAlone) {
  EXPECT_EQ(send_long(0, false, nullptr, Patience::kWaits, 17), Sent::kAll);
  EXPECT_EQ(driver.messages.size(), 1u);
  EXPECT_TRUE(driver.moved.empty());
}

TEST_F(Sending, ASmallLongIsCopied) {
  EXPECT_EQ(send_long(kEagerMax), Sent::kAll);
  ASSERT_EQ(driver.moved.size(), 1u);
  EXPECT_EQ(driver.moved[0].op, Op::kPutSend);
  EXPECT_EQ(driver.moved[0].flags, kWorkCopied | kWorkSilent);
  EXPECT_EQ(driver.moved[0].remote, kDest);
  EXPECT_EQ(driver.moved[0].remote_key, 55u);
}

TEST_F(Sending, ALargeOneIsWaitedForOrCounted) {
  driver.finishes = false;
  bool has_waited = false;
  driver.at_poll = [&] { has_waited = driver.finishes = true; };
  EXPECT_EQ(send_long(kEagerMax + 1), Sent::kAll);
  EXPECT_TRUE(has_waited);
  DoneCount local{0};
  driver.finishes = false;
  EXPECT_EQ(send_long(kEagerMax + 1, false, &local), Sent::kPending);
  EXPECT_EQ(driver.moved.back().flags, 0);
  EXPECT_EQ(local, 0u);
  driver.finishes = true;
  poll();
  EXPECT_EQ(local, 1u);
}

/// The source is the client's again once a Long returns (C1-144), while one in the segment may be
/// read later for a LongAsync, until its reply (C1-146).
TEST_F(Sending, ALongFromTheSegmentIsWaitedForAndALongAsyncIsNot_C1_144) {
  engine.own_base = reinterpret_cast<uint64_t>(source_.data());
  engine.own_bytes = source_.size();
  engine.drivers[0].own_key = engine.drivers[0].own_read_key = 66;
  for (const bool is_async : {false, true}) {
    driver.finishes = false;
    bool has_waited = false;
    driver.at_poll = [&] { has_waited = driver.finishes = true; };
    EXPECT_EQ(send_long(kEagerMax + 1, is_async), Sent::kAll);
    EXPECT_EQ(driver.moved.back().local_key, 66u);
    EXPECT_EQ(has_waited, !is_async);
  }
  engine.own_bytes = 0;
  engine.drivers[0].own_key = engine.drivers[0].own_read_key = kNoRegion;
}

/// The driver copies only so much at once: all but the last of it goes ahead.
TEST_F(Sending, WhatTheDriverCannotReachGoesAheadInPieces) {
  engine.drivers[0].caps.needs_local_key = true;
  constexpr size_t kAll = 2 * kCopiedMax + 100;
  EXPECT_EQ(send_long(kAll), Sent::kAll);
  ASSERT_EQ(driver.moved.size(), 3u);
  uint64_t at = 0;
  for (const Work& work : driver.moved) {
    const bool is_last = &work == &driver.moved[2];
    EXPECT_EQ(work.op, is_last ? Op::kPutSend : Op::kPut);
    EXPECT_EQ(work.head_bytes != 0, is_last);
    EXPECT_EQ(work.local, source_.data() + at);
    EXPECT_EQ(work.remote, kDest + at);
    EXPECT_EQ(work.local_key, kNoRegion);
    at += work.bytes;
  }
  EXPECT_EQ(at, kAll);
  driver.has_room = false;
  EXPECT_EQ(send_long(kAll, false, nullptr, Patience::kTries), Sent::kNothing);
}

/// The last piece bears the message, and is as long as the others where the length is a multiple.
TEST_F(Sending, WhatTheDriverCannotReachEndsWithItsMessage) {
  engine.drivers[0].caps.needs_local_key = true;
  EXPECT_EQ(send_long(2 * kCopiedMax), Sent::kAll);
  ASSERT_EQ(driver.moved.size(), 2u);
  EXPECT_EQ(driver.moved[1].op, Op::kPutSend);
  EXPECT_EQ(driver.moved[1].bytes, kCopiedMax);
}

/// For little data no owner is asked to pin.
TEST_F(Sending, ASmallLongToMemoryThatIsNotReachedGoesByMessages) {
  routes[kPeer].reach = Reach::kMessages;
  EXPECT_EQ(send_long(kEagerMax), Sent::kAll);
  EXPECT_EQ(driver.handlers, std::vector<uint8_t>{kPayload});
  EXPECT_TRUE(driver.moved.empty());
}

/// Memory that its owner pins for one transfer is worth asking for where much is sent; in a handler
/// nothing can be asked for.
TEST_F(Sending, ALargeLongToMemoryThatIsNotReachedAsksItsOwnerToPinIt) {
  if (handler_table[kHandlerVisitAnswer] == nullptr) register_visits();
  routes[kPeer].reach = Reach::kMessages;
  routes[kPeer].segment_bytes = ~uint64_t{0} - kDest;
  source_.resize(kAloneBytesMin);
  demand.own.open(driver, {.alone_bytes = 1 << 20}, 2, 0, 0);
  driver.at_poll = [&] {
    arrive(MessageClass::kReply, kHandlerVisitAnswer,
           {driver.last_args[0], driver.last_args[1], 70, 3});
  };
  EXPECT_EQ(send_long(kAloneBytesMin), Sent::kAll);
  EXPECT_EQ(driver.handlers, (std::vector<uint8_t>{kHandlerVisit, kHandlerVisitEnd, kPayload}));
  EXPECT_EQ(driver.moved[0].remote_key, 70u);
  driver.handlers.clear();
  pinwire_token token{kPeer, 0, true, false};
  test::begin_handler();
  EXPECT_TRUE(reply_long(token, {kPayload, 0, nullptr}, source_.data(), kAloneBytesMin,
                         reinterpret_cast<void*>(kDest)));
  test::end_handler();
  EXPECT_EQ(driver.handlers.front(), kHandlerPlace);
}

TEST_F(Sending, CallsOfTheLibraryAndOfClientsAreFromTheFirstEndpoint) {
  const int32_t args[] = {1, 2};
  EXPECT_EQ(call_of(9, 2, args).from_endpoint, 0);
  EXPECT_EQ(call_of(9, 2, args, 3).from_endpoint, 3);
  const AmCall call = call_with(9, args);
  EXPECT_EQ(call.from_endpoint, 0);
  EXPECT_EQ(call.argc, 2u);
}

TEST_F(Sending, AMessageCarriesWholeLinesOfSixteenBytesAndNoMoreThanAMediumHas) {
  for (const uint32_t more : {0u, 1u, 15u}) {
    EXPECT_EQ(carried_bytes_max({.send_bytes_max = kHeadBytesMax + 4096 + more}), 4096u);
  }
  EXPECT_EQ(carried_bytes_max({.send_bytes_max = kHeadBytesMax + 4096 + 16}), 4112u);
  EXPECT_EQ(carried_bytes_max({.send_bytes_max = 1 << 20}), kMediumBytesMax);
}

TEST_F(Sending, LimitsAreTheLeastOfTheDriversInUse) {
  EXPECT_EQ(am_limits(true).medium_bytes_max, 4096u);
  EXPECT_EQ(am_limits(true).long_bytes_max, kPutMax);
  EXPECT_EQ(am_limits(true).long_reply_bytes_max, kPutMax);
  engine.drivers[0].caps.put_bytes_max = ~uint64_t{0};
  EXPECT_EQ(am_limits(true).long_bytes_max, uint64_t{1} << 31);
}

/// A Long reply takes one message where a peer's memory, which may turn out not to be reached
/// whole, has room for one reply to a request.
TEST_F(Sending, LongRepliesAreLimitedWhereOneMessageCarriesThem) {
  Route three[] = {routes[0], routes[1], routes[1]};
  engine.routes = three;
  engine.drivers[0].caps.bounded_replies = true;
  EXPECT_EQ(am_limits(false).long_reply_bytes_max, 4096u);
  EXPECT_EQ(am_limits(true).long_reply_bytes_max, kPutMax);
  three[2].reach = Reach::kMessages;
  EXPECT_EQ(am_limits(true).long_reply_bytes_max, kPutMax) << "there is no such rank";
  three[1].reach = Reach::kMessages;
  EXPECT_EQ(am_limits(true).long_reply_bytes_max, 4096u);
}

using SendingDeath = Sending;

TEST_F(SendingDeath, ALongOutsideTheTargetsSegmentEndsTheJob) {
  for (const size_t bytes : {size_t{1}, size_t{500}}) {
    EXPECT_DEATH(send_long(bytes, false, nullptr, Patience::kWaits, kDest + kSegmentBytes),
                 "outside the target's segment of .*C1-143");
  }
}

TEST_F(SendingDeath, ASecondReplyEndsTheJob) {
  EXPECT_DEATH(request_short(0, {kQuestion, 0, nullptr}), "at most once .C1-150.");
  EXPECT_DEATH(request_short(0, {kAsking, 0, nullptr}), "at most once .C1-150.");
  pinwire_token token{kPeer, 0, true, true};
  EXPECT_DEATH(reply_long(token, {kNothing, 0, nullptr}, nullptr, 0, nullptr), "C1-150");
}

}  // namespace
}  // namespace pinwire
