#include "am/poll/owed.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <vector>

#include "am/long/send_long.h"
#include "am/message/call.h"
#include "am/poll/owed_memory.h"
#include "am/poll/poll.h"
#include "am/send/outgoing.h"
#include "am/send/post.h"
#include "am/send/send.h"
#include "tests/support/idle_driver.h"
#include "tests/support/stat_map.h"
#include "tests/unit/am/held_lane.h"

namespace pinwire {
namespace {

constexpr Rank kBusy = 1, kAttentive = 2, kAlsoBusy = 65;  // of one bucket with kBusy
constexpr Rank kOfAnotherBucket = 7;
constexpr Rank kRanks = 66;
constexpr uint64_t kCopiedMax = 20'000;

/// Peers take as many messages as a test lets them. A sent message is kept, payload and all.
class Peers final : public test::IdleDriver {
 public:
  struct Sent {
    Work work;
    std::vector<std::byte> head, payload;
  };
  std::map<Rank, uint32_t> room;
  std::map<Rank, std::vector<Sent>> sent;
  uint32_t polls = 0, room_comes_at = ~0u;  ///< the poll that makes room for all
  bool keeps_payloads = true;
  std::vector<uint64_t> finished;  ///< cookies that done() is to tell

  Caps caps() const noexcept override {
    return {.send_bytes_max = 10'000 + kHeadBytesMax,
            .put_bytes_max = 1 << 20,
            .eager_bytes_max = 1000,
            .copied_bytes_max = kCopiedMax,
            .concurrent_idle = true};
  }
  uint32_t post(uint32_t, std::span<const Work> works) noexcept override {
    const Work& work = works[0];
    if (room[work.peer] == 0) return 0;
    --room[work.peer];
    const auto* head = static_cast<const std::byte*>(work.head);
    const auto* payload = static_cast<const std::byte*>(work.local);
    sent[work.peer].push_back({work,
                               {head, head + work.head_bytes},
                               {payload, payload + (keeps_payloads ? work.bytes : 0)}});
    return 1;
  }
  uint32_t recv(uint32_t, RecvFilter, std::span<Recv>) noexcept override {
    if (++polls == room_comes_at) {
      for (auto& [peer, room_of_peer] : room) room_of_peer = ~0u;
    }
    return 0;
  }
  uint32_t done(uint32_t, std::span<Done> out) noexcept override {
    if (finished.empty()) return 0;
    out[0] = {finished.back(), WorkStatus::kOk};
    finished.pop_back();
    return 1;
  }
};

class Owed : public testing::Test {
 protected:
  void SetUp() override {
    engine.drivers[0].caps = driver.caps();
    engine.drivers[0].driver = &driver;
    engine.driver_count = 1;
    engine.rank_count = kRanks;
    engine.routes = routes;
    for (Route& route : routes) {
      route = {.driver = &driver, .segment_base = 0, .segment_bytes = ~uint64_t{0}};
    }
    driver.room = {{kAttentive, ~0u}};
    StatMap map;
    report_owed(map);
    refusals_ = map.values["owed_in_vain"];
    test::begin_handler();
  }
  void TearDown() override {
    for (Rank peer = 0; peer < kRanks; ++peer) driver.room[peer] = ~0u;
    for (int i = 0; i < 32; ++i) poll_often();
    test::end_handler();
    EXPECT_FALSE(owes(engine.drivers[0].lanes[0])) << "all that was owed is sent in the end";
    engine.drivers[0].driver = nullptr;
    engine.drivers[0].caps = {};
    engine.driver_count = 0;
    engine.rank_count = 1;
    engine.routes = nullptr;
  }
  /// Each bucket in its turn.
  void poll_often() {
    test::end_handler();
    for (int i = 0; i < 2; ++i) poll();
    test::begin_handler();
  }
  void reply(Rank peer, int32_t number, size_t bytes = 0) {
    pinwire_token token{peer, 0, true, false};
    const AmCall call{200, 1, &number};
    if (bytes == 0) {
      EXPECT_TRUE(reply_short(token, call));
    } else {
      std::vector<std::byte> payload(bytes, static_cast<std::byte>(number));
      EXPECT_TRUE(reply_medium(token, call, payload.data(), bytes));
      std::memset(payload.data(), 0xee, bytes);  // it is the handler's again
    }
  }
  bool reply_long_of(Rank peer, size_t bytes) {
    pinwire_token token{peer, 0, true, false};
    std::vector<std::byte> payload(bytes, std::byte{7});
    const bool is_sent = reply_long(token, {200, 0, nullptr}, payload.data(), bytes,
                                    reinterpret_cast<void*>(uint64_t{4096}));
    std::memset(payload.data(), 0xee, bytes);
    return is_sent;
  }
  std::vector<int32_t> numbers_at(Rank peer) {
    std::vector<int32_t> numbers;
    for (const Peers::Sent& sent : driver.sent[peer]) {
      int32_t number;
      std::memcpy(&number, sent.head.data() + 8, sizeof number);
      numbers.push_back(number);
    }
    return numbers;
  }

  Peers driver;
  Route routes[kRanks];
  uint64_t refusals_ = 0;  ///< until the test began
};

TEST_F(Owed, AHandlerWhoseReplyFindsNoRoomReturnsAndThePayloadGoesLater) {
  reply(kBusy, 5, 3000);
  EXPECT_GT(driver.polls, 8u) << "it waited first: peers that poll make room soon";
  EXPECT_TRUE(owes_to(engine.drivers[0].lanes[0], kBusy));
  poll_often();
  EXPECT_TRUE(driver.sent[kBusy].empty());
  driver.room[kBusy] = 1;
  poll_often();  // though the driver is idle
  ASSERT_EQ(driver.sent[kBusy].size(), 1u);
  EXPECT_EQ(driver.sent[kBusy][0].payload, std::vector<std::byte>(3000, std::byte{5}));
  EXPECT_EQ(driver.sent[kBusy][0].work.cls, MessageClass::kReply);
  EXPECT_FALSE(owes(engine.drivers[0].lanes[0]));
}

TEST_F(Owed, NoReplyOvertakesThoseToItsPeerAndNoneWaitsForOthers) {
  for (int32_t i = 0; i < 3; ++i) reply(kBusy, i);
  reply(kAlsoBusy, 10);
  const uint32_t polls = driver.polls;
  driver.room[kBusy] = 1;
  reply(kBusy, 3);
  reply(kAttentive, 20, 100);
  EXPECT_EQ(driver.polls, polls) << "who has waited once for this peer does not wait again";
  EXPECT_EQ(numbers_at(kAttentive), std::vector<int32_t>{20});
  poll_often();
  EXPECT_EQ(numbers_at(kBusy), std::vector<int32_t>{0});
  driver.room[kAlsoBusy] = 1;
  poll_often();
  EXPECT_EQ(numbers_at(kAlsoBusy), std::vector<int32_t>{10});
  driver.room[kBusy] = ~0u;
  poll_often();
  EXPECT_EQ(numbers_at(kBusy), (std::vector<int32_t>{0, 1, 2, 3}));
}

/// Each poll turns to one bucket of peers, whether those of the bucket before had room or not.
TEST_F(Owed, APeerThatTakesNothingHoldsUpNoPeerOfAnotherBucket) {
  reply(kBusy, 1);
  reply(kOfAnotherBucket, 2);
  driver.room[kOfAnotherBucket] = 1;
  poll_often();
  EXPECT_EQ(numbers_at(kOfAnotherBucket), std::vector<int32_t>{2});
  EXPECT_TRUE(driver.sent[kBusy].empty());
  reply(kOfAnotherBucket, 3);
  driver.room[kBusy] = 1;
  poll_often();
  EXPECT_EQ(numbers_at(kBusy), std::vector<int32_t>{1});
}

TEST_F(Owed, RepliesAreCounted) {
  const auto count = [] {
    StatMap map;
    report_owed(map);
    return map.values["owed"];
  };
  const uint64_t before = count();
  reply(kAttentive, 1);
  EXPECT_EQ(count(), before);
  reply(kBusy, 1);
  EXPECT_EQ(count(), before + 1);
}

TEST_F(Owed, RoomThatComesWhileAHandlerWaitsIsTaken) {
  driver.room_comes_at = 3;
  reply(kBusy, 1);
  EXPECT_EQ(driver.polls, 3u);
  EXPECT_EQ(numbers_at(kBusy), std::vector<int32_t>{1});
}

TEST_F(Owed, WhatIsOwedToAPeerIsBoundedAndBeyondItTheHandlerWaits) {
  constexpr uint32_t kPayloadBytes = 9000, kPolls = 1000;
  driver.room_comes_at = kPolls;
  std::vector<int32_t> all;
  for (int32_t i = 0; driver.polls < kPolls && i < 10'000; ++i) {
    reply(kBusy, i, kPayloadBytes);
    all.push_back(i);
  }
  EXPECT_EQ(driver.polls, kPolls);
  EXPECT_GT(all.size() * kPayloadBytes, 24u << 20);
  EXPECT_LT(all.size() * kPayloadBytes, 33u << 20);
  EXPECT_EQ(numbers_at(kBusy), all) << "those that were owed went first";
}

TEST_F(Owed, WhatALaneOwesToAllIsBoundedAndBeyondItTheHandlerWaits) {
  constexpr Rank kPeers = 32;  // 20 MB for each: none reaches its own bound
  constexpr uint32_t kPayloadBytes = 9900, kRepliesOfPeer = 2100;
  constexpr uint32_t kPolls = 10'000;  // each peer's first reply waits too, for some hundred
  driver.keeps_payloads = false;
  driver.room_comes_at = kPolls;
  uint64_t bytes = 0;
  for (uint32_t i = 0; driver.polls < kPolls && i < kPeers * kRepliesOfPeer; ++i) {
    reply(kBusy + 2 * (i % kPeers), static_cast<int32_t>(i), kPayloadBytes);
    bytes += kPayloadBytes;
  }
  EXPECT_EQ(driver.polls, kPolls);
  EXPECT_GT(bytes, 240u << 20);
  EXPECT_LT(bytes, 257u << 20);
}

TEST_F(Owed, ALentPayloadStaysLentUntilItIsSent) {
  alignas(16) std::byte lent[64] = {std::byte{9}};
  AmHead head;
  const int32_t number = 1;
  Work work{};
  work.op = Op::kSend;
  work.cls = MessageClass::kReply;
  work.flags = kWorkCopied | kWorkSilent | kWorkLent;
  work.head_bytes =
      static_cast<uint8_t>(build_head(head, Category::kMedium, 200, 1, &number, sizeof lent, 0));
  work.peer = kBusy;
  work.head = &head;
  work.local = lent;
  work.bytes = sizeof lent;
  work.lent = 77;
  post_in_handler(0, routes[kBusy], work);
  driver.room[kBusy] = 1;
  poll_often();
  ASSERT_EQ(driver.sent[kBusy].size(), 1u);
  EXPECT_EQ(driver.sent[kBusy][0].work.local, lent);
  EXPECT_EQ(driver.sent[kBusy][0].work.lent, 77u);
}

TEST_F(Owed, LongRepliesAreCopiedWhereTheTargetsCpuTakesThem) {
  for (const size_t bytes : {size_t{500}, size_t{20'000}}) {
    EXPECT_TRUE(reply_long_of(kBusy, bytes));
    driver.room[kBusy] = 1;
    poll_often();
    ASSERT_EQ(driver.sent[kBusy].size(), 1u);
    const Peers::Sent& sent = driver.sent[kBusy][0];
    EXPECT_EQ(sent.work.op, Op::kPutSend);
    EXPECT_EQ(sent.work.flags, kWorkCopied | kWorkSilent);
    EXPECT_EQ(sent.payload, std::vector<std::byte>(bytes, std::byte{7}));
    driver.sent.clear();
  }
}

TEST_F(Owed, LongerOnesLeaveFromTheCopyWhichStaysUntilTheyAreDone) {
  constexpr size_t kLongBytes = kCopiedMax + 1;
  const std::vector<std::byte> payload(kLongBytes, std::byte{7});
  EXPECT_TRUE(reply_long_of(kAttentive, kLongBytes));
  EXPECT_TRUE(reply_long_of(kBusy, kLongBytes));
  EXPECT_EQ(driver.polls, 0u) << "it waits for nobody";
  ASSERT_EQ(driver.sent[kAttentive].size(), 1u) << "what has room goes at once";
  EXPECT_TRUE(owes_unsent(engine.drivers[0].lanes[0]));
  driver.room[kBusy] = 1;
  poll_often();
  ASSERT_EQ(driver.sent[kBusy].size(), 1u);
  EXPECT_FALSE(owes_unsent(engine.drivers[0].lanes[0]));
  for (const Rank peer : {kAttentive, kBusy}) {
    const Work& work = driver.sent[peer][0].work;
    EXPECT_EQ(work.flags, 0);
    EXPECT_TRUE(owes(engine.drivers[0].lanes[0])) << "the driver reads it";
    EXPECT_EQ(std::memcmp(work.local, payload.data(), kLongBytes), 0);
    driver.finished.push_back(work.cookie);
    poll_often();
  }
  EXPECT_FALSE(owes(engine.drivers[0].lanes[0]));
}

/// A reply that the driver has read is no longer owed: however many follow each other, the lane's
/// bound is not reached.
TEST_F(Owed, LongerOnesThatAreDoneLeaveTheirMemoryToOthers) {
  constexpr size_t kLongBytes = 1 << 20;
  constexpr int kReplies = 300;  // more than a lane may owe at once
  driver.keeps_payloads = false;
  driver.room[kBusy] = 0;
  EXPECT_TRUE(reply_long_of(kBusy, kCopiedMax + 1));  // so that something is owed all the while
  for (int i = 0; i < kReplies && driver.polls == 0; ++i) {
    EXPECT_TRUE(reply_long_of(kAttentive, kLongBytes));
    driver.finished.push_back(driver.sent[kAttentive].back().work.cookie);
    test::end_handler();
    poll();
    test::begin_handler();
    driver.polls = 0;
  }
  EXPECT_EQ(driver.sent[kAttentive].size(), kReplies);
  StatMap map;
  report_owed(map);
  EXPECT_EQ(map.values["owed_in_vain"], refusals_) << "each found its memory";
  driver.room[kBusy] = 1;
  poll_often();
  driver.finished.push_back(driver.sent[kBusy].back().work.cookie);
  poll_often();
}

TEST_F(Owed, OneThatIsDoneAtOnceOrNotAtAllIsNotOwed) {
  pinwire_token token{kBusy, 0, true, false};
  EXPECT_FALSE(reply_short(token, {200, 0, nullptr, 0, Patience::kTries}));
  EXPECT_FALSE(token.replied);
  EXPECT_FALSE(owes(engine.drivers[0].lanes[0]));
}

TEST(OwedMemory, PiecesAreApartAndChunksAreUsedAgain) {
  OwedMemory memory;
  std::vector<OwedMemory::Piece> pieces;
  for (uint64_t i = 0; i < 1000; ++i) {
    const uint64_t bytes = 1 + i * 37 % 20'000;
    pieces.push_back(memory.take(bytes));
    ASSERT_NE(pieces.back().memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(pieces.back().memory) % kCacheLineBytes, 0u);
    std::memset(pieces.back().memory, static_cast<int>(i % 251), bytes);
  }
  for (uint64_t i = 0; i < pieces.size(); ++i) {
    const uint64_t bytes = 1 + i * 37 % 20'000;
    EXPECT_EQ(pieces[i].memory[0], static_cast<std::byte>(i % 251));
    EXPECT_EQ(pieces[i].memory[bytes - 1], static_cast<std::byte>(i % 251));
    memory.give_back(pieces[i].chunk);
  }
  const OwedMemory::Piece small = memory.take(10);
  memory.give_back(small.chunk);
  EXPECT_EQ(memory.take(10).memory, small.memory);
  memory.give_back(small.chunk);
  memory.release();
}

bool is_mapped(const OwedMemory::Chunk* chunk) {
  unsigned char resident = 0;
  const int failed = mincore(const_cast<OwedMemory::Chunk*>(chunk), 1, &resident);
  EXPECT_TRUE(failed == 0 || errno == ENOMEM);
  return failed == 0;
}

TEST(OwedMemory, WhatIsLargeHasAChunkOfItsOwnThatGoesWithIt) {
  constexpr uint64_t kSmallMax = 8 << 10, kPage = 4096;
  OwedMemory memory;
  const OwedMemory::Piece small = memory.take(kSmallMax);
  EXPECT_EQ(memory.take(kSmallMax).chunk, small.chunk);
  for (const uint64_t bytes : {kSmallMax + 1, 3 * kPage, 4 * kPage - sizeof(OwedMemory::Chunk)}) {
    const OwedMemory::Piece large = memory.take(bytes);
    EXPECT_NE(large.chunk, small.chunk);
    const auto* begin = reinterpret_cast<std::byte*>(large.chunk);
    EXPECT_EQ(large.memory, begin + sizeof(OwedMemory::Chunk));
    EXPECT_LE(large.memory + bytes, begin + large.chunk->mapped_bytes);
    memory.give_back(large.chunk);
    EXPECT_FALSE(is_mapped(large.chunk)) << bytes;
  }
  EXPECT_EQ(memory.take(1).chunk, small.chunk);
  for (int pieces = 3; pieces != 0; --pieces) memory.give_back(small.chunk);
  memory.release();
}

TEST(OwedMemory, AChunkIsFilledToItsEndAndGoesWithItsLastPiece) {
  constexpr uint32_t kPieces = (64 << 10) / kCacheLineBytes - 1;  // of a line each, behind its head
  OwedMemory memory;
  const OwedMemory::Piece first = memory.take(1);
  for (uint32_t i = 1; i < kPieces; ++i) ASSERT_EQ(memory.take(1).chunk, first.chunk) << i;
  const OwedMemory::Piece next = memory.take(1);
  EXPECT_NE(next.chunk, first.chunk);
  for (uint32_t i = 0; i < kPieces; ++i) {
    ASSERT_TRUE(is_mapped(first.chunk)) << i;
    memory.give_back(first.chunk);
  }
  EXPECT_FALSE(is_mapped(first.chunk));
  memory.give_back(next.chunk);
  EXPECT_TRUE(is_mapped(next.chunk)) << "small replies follow";
  for (int times = 0; times < 2; ++times) memory.release();
  EXPECT_FALSE(is_mapped(next.chunk));
  const OwedMemory::Piece anew = memory.take(1);
  ASSERT_NE(anew.memory, nullptr);
  memory.give_back(anew.chunk);
  memory.release();
}

}  // namespace
}  // namespace pinwire
