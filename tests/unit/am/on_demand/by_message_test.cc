#include "am/on_demand/by_message.h"

#include <gtest/gtest.h>

#include <cstring>

#include "am/handlers/handlers.h"
#include "am/message/call.h"
#include "am/message/done_count.h"
#include "am/send/limits.h"
#include "am/send/outgoing.h"
#include "tests/support/idle_driver.h"
#include "tests/unit/am/held_lane.h"

namespace pinwire {
namespace {

constexpr Rank kPeer = 1;

/// Rank 0's driver, of which rank 1 sees what this test makes of it.
class Recorder final : public test::IdleDriver {
 public:
  struct Sent {
    MessageClass cls;
    uint8_t flags;
    std::vector<std::byte> bytes;
  };
  std::vector<Sent> sent;
  bool delivers = false;  ///< each poll brings the oldest message that was sent

  Caps caps() const noexcept override { return {.send_bytes_max = 1000 + kHeadBytesMax}; }
  uint32_t post(uint32_t, std::span<const Work> work) noexcept override {
    for (const Work& one : work) {
      EXPECT_EQ(one.op, Op::kSend);
      Sent message{one.cls, one.flags, {}};
      const auto* head = static_cast<const std::byte*>(one.head);
      const auto* payload = static_cast<const std::byte*>(one.local);
      message.bytes.assign(head, head + one.head_bytes);
      message.bytes.insert(message.bytes.end(), payload, payload + one.bytes);
      EXPECT_LE(message.bytes.size(), caps().send_bytes_max);
      sent.push_back(std::move(message));
    }
    return static_cast<uint32_t>(work.size());
  }
  uint32_t recv(uint32_t, RecvFilter, std::span<Recv> out) noexcept override {
    if (!delivers || sent.empty()) return 0;
    out[0] = arrival(sent.front());
    sent.erase(sent.begin());
    return 1;
  }
  /// The same message as rank 1 gets it; until the next.
  Recv arrival(const Sent& message) noexcept {
    std::memcpy(buffer_ + 8, message.bytes.data(), message.bytes.size());
    return {buffer_ + 8, static_cast<uint32_t>(message.bytes.size()), kPeer, 0, message.cls};
  }

 private:
  alignas(16) std::byte buffer_[2048];
};

void* long_place;
size_t long_bytes;
std::byte long_first;
void on_long(pinwire_token*, void* place, size_t bytes, int32_t number) {
  EXPECT_EQ(number, 77);
  long_place = place;
  long_bytes = bytes;
  long_first = *static_cast<std::byte*>(place);
}

/// Both ranks are this process: what rank 0 sends to rank 1 arrives here, and so do the answers.
class ByMessage : public testing::Test {
 protected:
  static constexpr uint8_t kOnLong = 200;

  void SetUp() override {
    if (handler_table[kHandlerPut] == nullptr) register_message_carriers();
    handler_table[kOnLong] = reinterpret_cast<HandlerFunction>(reinterpret_cast<void*>(on_long));
    engine.drivers[0].driver = &driver;
    engine.drivers[0].caps = driver.caps();
    engine.driver_count = 1;
    engine.rank_count = 2;
    engine.routes = routes;
    routes[kPeer] = {.driver = &driver, .reach = Reach::kMessages, .segment_bytes = ~uint64_t{0}};
    engine.own_base = 0;
    engine.own_bytes = ~uint64_t{0};
    for (size_t i = 0; i < sizeof source; ++i) source[i] = static_cast<std::byte>(i * 7 + 1);
    long_bytes = 0;
  }
  void TearDown() override {
    engine.drivers[0].driver = nullptr;
    engine.drivers[0].caps = {};
    engine.driver_count = 0;
    engine.rank_count = 1;
    engine.routes = nullptr;
    engine.own_bytes = 0;
  }
  /// Runs the handlers of what was sent so far; what they send comes next.
  void arrive() {
    std::vector<Recorder::Sent> messages;
    std::swap(messages, driver.sent);
    const test::HeldLane held;
    for (const Recorder::Sent& message : messages) dispatch(0, driver.arrival(message));
  }

  Recorder driver;
  Route routes[2];
  std::byte source[10'000], target[10'000] = {};
  DoneCount done{0};
};

TEST_F(ByMessage, APutArrivesInPiecesAndEachIsCounted) {
  for (const size_t bytes : {size_t{1}, size_t{992}, size_t{993}, sizeof source}) {
    std::memset(target, 0, sizeof target);
    done = 0;
    const uint32_t count =
        put_by_message(kPeer, reinterpret_cast<uint64_t>(target), source, bytes, done);
    EXPECT_EQ(count, (bytes + 991) / 992);
    EXPECT_EQ(done.load(), 0u);
    arrive();  // the puts
    EXPECT_EQ(std::memcmp(target, source, bytes), 0);
    arrive();  // the answers
    EXPECT_EQ(done.load(), count);
  }
}

TEST_F(ByMessage, AGetBringsEveryPiece) {
  const uint32_t count =
      get_by_message(kPeer, reinterpret_cast<uint64_t>(source), target, sizeof source, done);
  arrive();
  EXPECT_EQ(done.load(), 0u);
  arrive();
  EXPECT_EQ(done.load(), count);
  EXPECT_EQ(std::memcmp(target, source, sizeof source), 0);
}

TEST_F(ByMessage, ALongOfOneMessageBringsItsPayloadAlong) {
  const int32_t number = 77;
  long_by_message(nullptr, kPeer, {kOnLong, 1, &number}, source, 900, target, false);
  ASSERT_EQ(driver.sent.size(), 1u);
  EXPECT_EQ(driver.sent[0].flags & kWorkFenced, 0);
  arrive();
  EXPECT_EQ(long_place, target);
  EXPECT_EQ(long_bytes, 900u);
  EXPECT_EQ(std::memcmp(target, source, 900), 0);
}

TEST_F(ByMessage, TheHeadOfALongRequestLeavesOnceItsPiecesAreAnswered) {
  const int32_t number = 77;
  driver.delivers = true;
  long_by_message(nullptr, kPeer, {kOnLong, 1, &number}, source, 5000, target, false);
  EXPECT_EQ(driver.sent.size(), 1u) << "neither a piece nor an answer is under way";
  EXPECT_EQ(long_bytes, 0u);
  arrive();
  EXPECT_EQ(long_bytes, 5000u);
  EXPECT_EQ(std::memcmp(target, source, 5000), 0);
}

TEST_F(ByMessage, TheHeadOfALongReplyIsFencedBehindItsPieces) {
  pinwire_token token{kPeer, 0, true, false};
  const int32_t number = 77;
  test::begin_handler();
  long_by_message(&token, kPeer, {kOnLong, 1, &number}, source, 5000, target, false);
  test::end_handler();
  ASSERT_EQ(driver.sent.size(), 6u);
  for (size_t i = 0; i < driver.sent.size(); ++i) {
    EXPECT_EQ(driver.sent[i].cls, MessageClass::kReply);
    EXPECT_EQ((driver.sent[i].flags & kWorkFenced) != 0, i == 5) << i;
  }
  arrive();
  EXPECT_EQ(long_bytes, 5000u);
  EXPECT_EQ(long_first, source[0]);
  EXPECT_EQ(std::memcmp(target, source, 5000), 0);
  EXPECT_TRUE(driver.sent.empty()) << "nothing answers a reply";
}

TEST_F(ByMessage, TheLastPieceOfALongReplyTravelsWithItsHeadEvenIfItIsAWholePiece) {
  constexpr size_t kPiece = 992;
  const int32_t number = 77;
  for (const size_t pieces : {1, 2, 5}) {
    pinwire_token token{kPeer, 0, true, false};
    std::memset(target, 0, sizeof target);
    test::begin_handler();
    long_by_message(&token, kPeer, {kOnLong, 1, &number}, source, pieces * kPiece, target, false);
    test::end_handler();
    EXPECT_EQ(driver.sent.size(), pieces);
    arrive();
    EXPECT_EQ(long_bytes, pieces * kPiece);
    EXPECT_EQ(std::memcmp(target, source, pieces * kPiece), 0);
  }
}

TEST_F(ByMessage, WhereRepliesAreCountedALongReplyIsOneMessage) {
  engine.drivers[0].caps.put_bytes_max = 1 << 20;
  EXPECT_EQ(am_limits(true).long_reply_bytes_max, 1u << 20);
  engine.drivers[0].caps.bounded_replies = true;
  EXPECT_EQ(am_limits(true).long_reply_bytes_max, 992u);
  EXPECT_EQ(am_limits(true).long_bytes_max, 1u << 20);
  routes[kPeer].reach = Reach::kWhole;
  EXPECT_EQ(am_limits(true).long_reply_bytes_max, 1u << 20);
  EXPECT_EQ(am_limits(false).long_reply_bytes_max, 992u) << "it may yet be reached otherwise";
}

using ByMessageDeath = ByMessage;

TEST_F(ByMessageDeath, APeerThatNamesOtherMemoryThanTheSegmentEndsTheJob) {
  engine.own_base = reinterpret_cast<uint64_t>(target);
  engine.own_bytes = 100;
  put_by_message(kPeer, reinterpret_cast<uint64_t>(target) + 99, source, 2, done);
  EXPECT_DEATH(arrive(), "a put of 2 bytes at 0x[0-9a-f]+, outside the segments here");
  driver.sent.clear();
  const int32_t number = 77;
  long_by_message(nullptr, kPeer, {kOnLong, 1, &number}, source, 101, target, false);
  EXPECT_DEATH(arrive(), "a Long of 101 bytes");
}

TEST_F(ByMessageDeath, ACarriedLongThatHasMoreThanItSaysIsMalformed) {
  const int32_t number = 77;
  long_by_message(nullptr, kPeer, {kOnLong, 1, &number}, source, 64, target, false);
  driver.sent[0].bytes.resize(driver.sent[0].bytes.size() + 8);
  EXPECT_DEATH(arrive(), "impossible shape");
}

}  // namespace
}  // namespace pinwire
