// GEX_FLAG_IMMEDIATE to memory that its owner pins on demand: nothing waits for the owner, who here
// never says a word but what the test says for it (GX-043).
#include <span>

#include "am/handlers/handlers.h"
#include "tests/unit/extended/two_ranks.h"

namespace pinwire {
namespace {

class Immediate : public TwoRanks {
 protected:
  Immediate() {
    kind_ = SegmentKind::kLarge;
    pin_bytes_ = 256 << 10;
    [[maybe_unused]] static const bool is_registered = (register_transfer_handlers(), true);
    attach(1, {false}, {false});
    EXPECT_EQ(routes_[1].reach, Reach::kBuckets);
  }
  bool put(size_t bytes = sizeof source_) {
    return start_put(1, there(), source_, bytes, SourceUntil::kReturn, op_, Patience::kTries);
  }
  static char* there() { return everywhere + 2 * kBucketBytes + 100; }

  struct Message {
    AmHeader header;
    std::vector<std::byte> bytes;
  };
  /// The next that comes to rank 1.
  Message next() {
    Message message{};
    for (uint32_t turns = 0; inbox_.empty() && turns < kTurnsMax; ++turns) {
      for (auto& one : receive(1, 0)) inbox_.push_back(std::move(one));
    }
    EXPECT_FALSE(inbox_.empty());
    if (inbox_.empty()) return message;
    message.bytes = std::move(inbox_.front());
    inbox_.erase(inbox_.begin());
    std::memcpy(&message.header, message.bytes.data(), sizeof message.header);
    return message;
  }
  int32_t argument(const Message& message, size_t index) {
    int32_t value = 0;
    std::memcpy(&value, message.bytes.data() + sizeof(AmHeader) + index * sizeof value,
                sizeof value);
    return value;
  }
  /// Rank 1 answers, and rank 0 takes it in.
  void answer(uint8_t handler, std::span<const int32_t> args) {
    AmHead head;
    Work work{};
    work.op = Op::kSend;
    work.cls = MessageClass::kReply;
    work.flags = kWorkCopied | kWorkSilent;
    work.head = &head;
    work.head_bytes = static_cast<uint8_t>(build_head(
        head, Category::kShort, handler, static_cast<uint32_t>(args.size()), args.data(), 0, 0));
    ASSERT_EQ(drivers_[1][0]->post(0, {&work, 1}), 1u);
    uint32_t found = 0;
    for (uint32_t turns = 0; found == 0 && turns < kTurnsMax; ++turns) found = poll();
    ASSERT_NE(found, 0u);
  }

  static constexpr uint64_t kBucketBytes = 64 << 10;
  char source_[3000] = "source";
  pinwire_op op_{};
  std::vector<std::vector<std::byte>> inbox_;
};

TEST_F(Immediate, APutGoesByMessagesUntilItsBucketIsKnown_GX_043) {
  ASSERT_TRUE(put());
  EXPECT_EQ(op_.started, 1u);
  const Message asked = next();
  EXPECT_EQ(asked.header.handler, kHandlerBucketWanted);
  EXPECT_EQ(next().header.handler, kHandlerPut);
  ASSERT_TRUE(put());
  EXPECT_EQ(next().header.handler, kHandlerPut) << "the question is asked once";

  const auto bucket = reinterpret_cast<uint64_t>(there()) & ~(kBucketBytes - 1);
  auto pinned = drivers_[1][0]->pin(reinterpret_cast<void*>(bucket), kBucketBytes, -1, 0);
  ASSERT_TRUE(pinned.ok());
  const int32_t granted[] = {argument(asked, 0), 0, static_cast<int32_t>(pinned->remote_key), 0,
                             static_cast<int32_t>(kBucketBytes)};
  answer(kHandlerBucketGranted, granted);
  fabric_.reset_counters();
  ASSERT_TRUE(put());
  EXPECT_TRUE(fabric_.run());
  EXPECT_EQ(fabric_.counters().writes, 1u);
  EXPECT_EQ(fabric_.counters().sends, 0u);
  EXPECT_STREQ(there(), "source");
  std::memset(there(), 0, sizeof source_);
}

TEST_F(Immediate, WhatIsRefusedGoesByMessagesAndIsAskedForAgain) {
  ASSERT_TRUE(put());
  const int32_t refused[] = {argument(next(), 0)};
  EXPECT_EQ(next().header.handler, kHandlerPut);
  answer(kHandlerBucketRefused, refused);
  ASSERT_TRUE(put());
  EXPECT_EQ(next().header.handler, kHandlerBucketWanted);
  EXPECT_EQ(next().header.handler, kHandlerPut);
}

TEST_F(Immediate, WhatFindsNoRoomHasDoneNothing_GX_124) {
  uint32_t done = 0;
  while (done < 1000 && put()) ++done;
  EXPECT_GT(done, 0u);
  EXPECT_LT(done, 1000u) << "room without end";
  EXPECT_EQ(op_.started, done);
  EXPECT_FALSE(start_get(1, there(), source_, sizeof source_, op_, Patience::kTries));
  EXPECT_EQ(op_.started, done);
  AmCall call{200, 0, nullptr};
  call.patience = Patience::kTries;
  EXPECT_EQ(request_long(1, call, source_, 100, there(), false), Sent::kNothing);
  for (uint32_t i = 0; i < done + 1; ++i) next();
  EXPECT_TRUE(receive(1, 0).empty());
}

TEST_F(Immediate, ALongOfOneMessageDoesNotAsk) {
  AmCall call{200, 0, nullptr};
  call.patience = Patience::kTries;
  EXPECT_EQ(request_long(1, call, source_, 100, there(), false), Sent::kAll);
  const Message sent = next();
  EXPECT_EQ(sent.header.category(), Category::kCarriedLong);
  EXPECT_EQ(sent.header.payload_bytes, 100u);
}

}  // namespace
}  // namespace pinwire
