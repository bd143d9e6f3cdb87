#include "am/send/negotiated.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "am/handlers/handlers.h"
#include "am/message/call.h"
#include "core/engine/engine.h"
#include "tests/support/idle_driver.h"
#include "tests/unit/am/held_lane.h"

namespace pinwire {
namespace {

constexpr Rank kLender = 1;
constexpr uint8_t kHandler = 200;
constexpr size_t kBytes = 600;

/// Lends up to two buffers, on the lane that it is told; it keeps a record of what comes of them.
class Lender final : public test::IdleDriver {
 public:
  static constexpr uint64_t kFirstName = 70;
  struct Post {
    Work work;
    uint32_t lane;
    std::vector<std::byte> payload;
  };
  std::vector<Post> posts;
  std::vector<uint64_t> taken_back;
  uint32_t lends = 0, lent = 0, last_lane = 99;
  bool has_room = true, wants_the_lock = true;

  Caps caps() const noexcept override {
    Caps caps{.send_bytes_max = 2000 + kHeadBytesMax};
    caps.lent_bytes_max = 1000;
    return caps;
  }
  Lent lend(uint32_t lane, Rank peer, uint64_t bytes) noexcept override {
    EXPECT_EQ(peer, kLender);
    EXPECT_LE(bytes, caps().lent_bytes_max);
    expect_locked(lane);
    ++lends;
    last_lane = lane;
    if (lent == 2) return {};
    return {buffers[lent], sizeof buffers[0], kFirstName + lent++};
  }
  void take_back(uint32_t lane, const Lent& back) noexcept override {
    expect_locked(lane);
    last_lane = lane;
    taken_back.push_back(back.name);
  }
  uint32_t post(uint32_t lane, std::span<const Work> work) noexcept override {
    if (!has_room) return 0;
    const auto* payload = static_cast<const std::byte*>(work[0].local);
    posts.push_back({work[0], lane, {payload, payload + work[0].bytes}});
    return 1;
  }

  alignas(16) std::byte buffers[2][1024] = {};

 private:
  /// A client's call locks the lane; one in a handler does not lock it again.
  void expect_locked(uint32_t lane) noexcept {
    DriverLane& held = engine.drivers[0].lanes[lane];
    const bool was_free = held.try_lock();
    if (was_free) held.unlock();
    EXPECT_EQ(was_free, !wants_the_lock);
  }
};

class Negotiated : public testing::Test {
 protected:
  void SetUp() override {
    engine.drivers[0].driver = &driver;
    engine.drivers[0].caps = driver.caps();
    engine.driver_count = 1;
    engine.rank_count = 2;
    engine.routes = routes;
    routes[kLender] = {.driver = &driver};
  }
  void TearDown() override {
    EXPECT_TRUE(engine.drivers[0].lanes[0].try_lock()) << "no lock stays held";
    engine.drivers[0].lanes[0].unlock();
    engine.drivers[0].driver = nullptr;
    engine.drivers[0].caps = {};
    engine.driver_count = 0;
    engine.rank_count = 1;
    engine.routes = nullptr;
  }
  Room room(Patience patience = Patience::kWaits, size_t bytes = kBytes) {
    return room_for_medium(nullptr, kLender, bytes, own, patience);
  }
  bool send(const Room& room, size_t bytes, Patience patience = Patience::kWaits) {
    std::memset(room.address, 5, bytes);
    return request_medium_in(kLender, {kHandler, 0, nullptr, 0, patience}, room, bytes);
  }
  /// The work that was posted last has `bytes` of what send() wrote.
  void expect_sent(size_t bytes) {
    ASSERT_FALSE(driver.posts.empty());
    EXPECT_EQ(driver.posts.back().payload, std::vector(bytes, std::byte{5}));
  }

  Lender driver;
  Route routes[2];
  alignas(16) std::byte own[2048];
};

TEST_F(Negotiated, APayloadIsSentFromWhereItWasWritten_GX_121) {
  const Room room = this->room();
  EXPECT_EQ(room.address, driver.buffers[0]);
  EXPECT_EQ(room.bytes, kBytes) << "not all that the driver has";
  EXPECT_TRUE(send(room, 100));
  expect_sent(100);
  const Work& work = driver.posts[0].work;
  EXPECT_EQ(work.local, driver.buffers[0]);
  EXPECT_EQ(work.flags & kWorkLent, kWorkLent);
  EXPECT_EQ(work.lent, Lender::kFirstName);
  EXPECT_EQ(work.head_bytes % 16, 8) << "else the payload is not as aligned (Driver::lend)";
  EXPECT_TRUE(driver.taken_back.empty()) << "what is posted goes back to the driver by itself";
}

TEST_F(Negotiated, WhenAllIsOutTheCallersMemoryServes) {
  room(), room();
  const Room third = room();
  EXPECT_EQ(third.address, own);
  EXPECT_EQ(third.bytes, kBytes);
  EXPECT_TRUE(send(third, kBytes));
  expect_sent(kBytes);
  EXPECT_EQ(driver.posts[0].work.flags & kWorkLent, 0);
  leave_room(nullptr, kLender, third);
  EXPECT_TRUE(driver.taken_back.empty());
}

TEST_F(Negotiated, WhoTriesGetsNoRoomWhenAllIsOut_GX_116) {
  EXPECT_EQ(room(Patience::kTries).address, driver.buffers[0]);
  EXPECT_EQ(room(Patience::kTries).address, driver.buffers[1]);
  EXPECT_EQ(room(Patience::kTries).address, nullptr);
  EXPECT_EQ(driver.lends, 3u);
}

TEST_F(Negotiated, WhoTriesDoesNotWaitForALane_GX_116) {
  engine.drivers[0].lanes[0].lock(engine.spins_now);
  EXPECT_EQ(room(Patience::kTries).address, nullptr);
  engine.drivers[0].lanes[0].unlock();
  EXPECT_EQ(driver.lends, 0u);
  EXPECT_EQ(room(Patience::kTries).address, driver.buffers[0]);
}

TEST_F(Negotiated, ADriverThatLendsNotSoMuchIsNotAsked) {
  for (const Patience patience : {Patience::kWaits, Patience::kTries}) {
    EXPECT_EQ(room(patience, 1001).address, own);
    EXPECT_EQ(room(patience, 1001).bytes, 1001u);
  }
  engine.drivers[0].caps.lent_bytes_max = 0;
  EXPECT_EQ(room(Patience::kTries, 1).address, own);
  EXPECT_EQ(driver.lends, 0u);
}

TEST_F(Negotiated, WhatIsNotSentGoesBack_GX_118) {
  const Room first = room(), second = room();
  leave_room(nullptr, kLender, second);
  leave_room(nullptr, kLender, first);
  EXPECT_EQ(driver.taken_back, (std::vector{Lender::kFirstName + 1, Lender::kFirstName}));
  EXPECT_TRUE(driver.posts.empty());
}

TEST_F(Negotiated, ARefusedCommitLeavesTheRoomAsItWas_GX_117) {
  const Room room = this->room();
  driver.has_room = false;
  EXPECT_FALSE(send(room, kBytes, Patience::kTries));
  EXPECT_TRUE(driver.taken_back.empty());
  EXPECT_EQ(room.address[kBytes - 1], std::byte{5});
  driver.has_room = true;
  EXPECT_TRUE(send(room, kBytes, Patience::kTries));
  expect_sent(kBytes);
  EXPECT_EQ(driver.posts[0].work.lent, Lender::kFirstName);
}

TEST_F(Negotiated, AReplyTakesTheLaneOfItsRequest) {
  pinwire_token token{kLender, 3, true, false, 0, false, 0, 0};
  engine.drivers[0].lane_count = 4;
  test::begin_handler(3);
  const Room room = room_for_medium(&token, kLender, kBytes, own, Patience::kWaits);
  EXPECT_EQ(driver.last_lane, 3u);
  EXPECT_EQ(room.lane, 3u);
  std::memset(room.address, 5, kBytes);
  driver.has_room = false;
  const AmCall tries{kHandler, 0, nullptr, 0, Patience::kTries};
  EXPECT_FALSE(reply_medium_in(token, tries, room, kBytes));
  EXPECT_FALSE(token.replied) << "a reply that was refused is still owed";
  driver.has_room = true;
  EXPECT_TRUE(reply_medium_in(token, tries, room, kBytes));
  EXPECT_TRUE(token.replied);
  test::end_handler(3);
  engine.drivers[0].lane_count = 1;
  expect_sent(kBytes);
  EXPECT_EQ(driver.posts[0].lane, 3u);
  EXPECT_EQ(driver.posts[0].work.cls, MessageClass::kReply);
}

TEST_F(Negotiated, ASecondReplyEndsTheJob) {
  pinwire_token token{kLender, 0, true, true, 0, false, 0, 0};
  EXPECT_DEATH(reply_medium_in(token, {kHandler, 0, nullptr}, {}, 0), "at most once .C1-150.");
}

void* place_of_own;
size_t bytes_of_own;
void on_own(pinwire_token*, void* place, size_t bytes) {
  place_of_own = place;
  bytes_of_own = bytes;
}

TEST_F(Negotiated, ToOneselfTheHandlerRunsOnTheVeryMemory) {
  handler_table[kHandler] = reinterpret_cast<HandlerFunction>(reinterpret_cast<void*>(on_own));
  const Room room = room_for_medium(nullptr, 0, kBytes, own, Patience::kTries);
  EXPECT_EQ(room.address, own);
  EXPECT_EQ(driver.lends, 0u);
  EXPECT_TRUE(request_medium_in(0, {kHandler, 0, nullptr}, room, 17));
  EXPECT_EQ(place_of_own, own);
  EXPECT_EQ(bytes_of_own, 17u);
  EXPECT_TRUE(driver.posts.empty());
}

}  // namespace
}  // namespace pinwire
