// A handler is told of the message that it runs for, and the owner of work that it is done.
#include "am/handlers/dispatch.h"

#include <gtest/gtest.h>

#include <cstring>

#include "am/handlers/handlers.h"
#include "am/message/done_count.h"
#include "am/message/message.h"
#include "tests/support/cancel_state.h"

namespace pinwire {
namespace {

constexpr Rank kAsker = 1;
constexpr uint8_t kRunsShort = 201, kRunsPayload = 202;

struct Ran {
  pinwire_token token;
  void* payload;
  size_t bytes;
  bool in_handler;
  bool may_be_cancelled;
};
Ran ran;

void run_short(pinwire_token* token) {
  ran = {*token, nullptr, 0, this_thread.in_handler, test::may_be_cancelled()};
}
void run_payload(pinwire_token* token, void* payload, size_t bytes) {
  ran = {*token, payload, bytes, this_thread.in_handler, test::may_be_cancelled()};
}

class MessageDispatch : public testing::Test {
 protected:
  void SetUp() override {
    install(kRunsShort, run_short);
    install(kRunsPayload, run_payload);
    engine.own_bytes = ~uint64_t{0};
    ran = {};
  }
  void TearDown() override {
    handler_table[kRunsShort] = handler_table[kRunsPayload] = nullptr;
    engine.own_bytes = 0;
  }
  /// A message without arguments arrives; a Long's payload is in its place already.
  void arrive(Category category, uint8_t handler, uint32_t bytes) {
    AmHead head;
    const uint32_t head_bytes =
        build_head(head, category, handler, 0, nullptr, bytes, reinterpret_cast<uint64_t>(memory_));
    alignas(16) std::byte buffer[8 + sizeof head + sizeof memory_] = {};
    std::memcpy(buffer + 8, &head, head_bytes);
    const uint32_t carried = category == Category::kLong ? 0 : bytes;
    dispatch(0, {buffer + 8, head_bytes + carried, kAsker, 0, MessageClass::kRequest});
  }

  std::byte memory_[64];

 private:
  template <typename Function>
  static void install(uint8_t index, Function* function) {
    handler_table[index] = reinterpret_cast<HandlerFunction>(reinterpret_cast<void*>(function));
  }
};

/// The thread would leave what it was in locked, and what it had begun undone.
TEST_F(MessageDispatch, AHandlerOfAMessageToItselfIsNotCancelled) {
  const test::OtherCallers others(true);
  EXPECT_TRUE(test::may_be_cancelled());
  dispatch_loopback(kRunsPayload, {}, true, Category::kMedium, memory_, 9, 0, nullptr);
  EXPECT_EQ(ran.bytes, 9u);
  EXPECT_FALSE(ran.may_be_cancelled);
  EXPECT_TRUE(test::may_be_cancelled());
}

TEST_F(MessageDispatch, AHandlerLearnsWhetherItsMessageIsALong) {
  arrive(Category::kLong, kRunsPayload, sizeof memory_);
  EXPECT_EQ(ran.payload, memory_);
  EXPECT_TRUE(ran.token.is_long);
  arrive(Category::kCarriedLong, kRunsPayload, sizeof memory_);
  EXPECT_TRUE(ran.token.is_long);
  arrive(Category::kMedium, kRunsPayload, sizeof memory_);
  EXPECT_EQ(ran.bytes, sizeof memory_);
  EXPECT_FALSE(ran.token.is_long);
  arrive(Category::kShort, kRunsShort, 0);
  EXPECT_TRUE(ran.in_handler);
  EXPECT_FALSE(ran.token.is_long);
}

TEST_F(MessageDispatch, AHandlerOfAMessageToOneselfLearnsWhetherItIsALong) {
  dispatch_loopback(kRunsPayload, {}, true, Category::kLong, memory_, 9, 0, nullptr);
  EXPECT_EQ(ran.payload, memory_);
  EXPECT_TRUE(ran.token.is_long);
  dispatch_loopback(kRunsPayload, {}, true, Category::kMedium, memory_, 9, 0, nullptr);
  EXPECT_EQ(ran.bytes, 9u);
  EXPECT_FALSE(ran.token.is_long);
}

TEST_F(MessageDispatch, AHandlerThatIsRunForItsSourceSeesAReplyWithoutArguments) {
  constexpr uint8_t kEndpoint = 3;  // which has the first one's handlers, as it has none
  const pinwire_token request{kAsker, 2, true, false, 7, true, kEndpoint, 0};
  this_thread.in_handler = true;
  run_as_reply(request, kRunsPayload, kEndpoint, memory_, 9);
  EXPECT_TRUE(this_thread.in_handler) << "the request's handler goes on";
  this_thread.in_handler = false;
  EXPECT_EQ(ran.payload, memory_);
  EXPECT_EQ(ran.bytes, 9u);
  EXPECT_TRUE(ran.in_handler);
  EXPECT_EQ(ran.token.source, kAsker);
  EXPECT_EQ(ran.token.handler, kRunsPayload);
  EXPECT_EQ(ran.token.endpoint, kEndpoint);
  EXPECT_FALSE(ran.token.is_request);
  EXPECT_FALSE(ran.token.is_long);
}

TEST(DispatchSink, TellsOfTrackedWorkWhoeverItsCookieNames) {
  DoneCount done{0};
  Tracked* work = take_tracked();
  ASSERT_NE(work, nullptr);
  work->cookie = cookie_of(done);
  DispatchSink{}.done(cookie_of(*work));
  EXPECT_EQ(done.load(), 1u);
  work = take_tracked();
  work->cookie = 0;  // nobody waits for it
  DispatchSink{}.done(cookie_of(*work));
  DispatchSink{}.done(cookie_of(done));
  EXPECT_EQ(done.load(), 2u);
}

}  // namespace
}  // namespace pinwire
