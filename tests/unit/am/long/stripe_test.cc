#include "am/long/stripe.h"

#include <gtest/gtest.h>

#include <vector>

#include "am/long/send_long.h"
#include "am/message/call.h"
#include "am/message/done_count.h"
#include "am/poll/poll.h"
#include "core/engine/engine.h"
#include "tests/support/idle_driver.h"
#include "tests/unit/am/held_lane.h"

namespace pinwire {
namespace {

/// Takes all work and completes it when asked; or fails.
class RailDriver final : public test::IdleDriver {
 public:
  explicit RailDriver(const char* name) : name_(name) {}
  std::vector<Work> posted;
  uint32_t completed = 0;
  Failure broken{1, WorkStatus::kUnreachable, "its cable was pulled"};
  bool is_broken = false;

  const char* name() const noexcept override { return name_; }
  uint32_t post(uint32_t, std::span<const Work> work) noexcept override {
    posted.insert(posted.end(), work.begin(), work.end());
    return static_cast<uint32_t>(work.size());
  }
  uint32_t done(uint32_t, std::span<Done> out) noexcept override {
    if (is_broken || completed == posted.size()) return 0;
    out[0] = {posted[completed++].cookie, WorkStatus::kOk};
    return 1;
  }
  bool idle(uint32_t) const noexcept override { return false; }
  const Failure* failure() const noexcept override { return is_broken ? &broken : nullptr; }

 private:
  const char* name_;
};

/// Rank 0 of 2, with three rails behind one driver for near peers.
class Stripes : public testing::Test {
 protected:
  static constexpr uint32_t kRails = 3;
  static constexpr uint64_t kLocal = 0x10'0000, kRemote = 0x7000'0000, kPinned = 1 << 30;

  Stripes() {
    engine.rank = 0;
    engine.driver_count = 1 + kRails;
    engine.rail_first = 1;
    engine.rail_count = kRails;
    engine.stripe_bytes_min = 64 * 1024;
    engine.rail_keys = keys_;
    engine.own_base = kLocal;
    engine.own_bytes = kPinned;
    Driver* const drivers[] = {&near_, &rails_[0], &rails_[1], &rails_[2]};
    for (uint32_t d = 0; d < engine.driver_count; ++d) {
      engine.drivers[d].driver = drivers[d];
      engine.drivers[d].caps = {};
      engine.drivers[d].caps.needs_local_key = true;
      engine.drivers[d].caps.put_bytes_max = 1 << 20;
      engine.drivers[d].own_key = engine.drivers[d].own_read_key = 50 + d;
    }
    engine.rank_count = 2;
    route_.driver_index = static_cast<uint8_t>(engine.rail_first + engine.rail_to(1));
    route_.driver = drivers[route_.driver_index];
    route_.region_key = keys_[kRails + engine.rail_to(1)];
  }
  ~Stripes() override {
    engine.rank_count = 1;
    engine.driver_count = 0;
    engine.rail_first = 0;
    engine.rail_count = 1;
    engine.stripe_bytes_min = ~uint64_t{0};
    engine.rail_keys = nullptr;
    engine.own_base = 0;
    engine.own_bytes = 0;
    for (DriverSlot& slot : engine.drivers) {
      slot.driver = nullptr;
      slot.caps = {};
      slot.own_key = slot.own_read_key = kNoRegion;
    }
  }
  uint32_t post(uint64_t bytes) {
    Work work{};
    work.op = Op::kPut;
    work.peer = 1;
    work.cookie = cookie_of(done_);
    return post_striped(work, route_, reinterpret_cast<void*>(kLocal), kRemote, bytes);
  }

  RailDriver near_{"near"}, rails_[kRails] = {RailDriver("a"), RailDriver("b"), RailDriver("c")};
  uint32_t keys_[2 * kRails] = {0, 0, 0, 71, 72, 73};
  Route route_;
  DoneCount done_{0};
};

TEST_F(Stripes, CoverATransferOnceInPagesWithTheKeysOfEachRail) {
  for (const uint64_t bytes : {64u * 1024, 65'537u, 1'000'000u, 3u << 20}) {
    for (RailDriver& rail : rails_) rail.posted.clear();
    EXPECT_EQ(post(bytes), 3u) << bytes;
    uint64_t at = 0;
    for (uint32_t rail = 0; rail < kRails; ++rail) {
      ASSERT_EQ(rails_[rail].posted.size(), 1u);
      const Work& work = rails_[rail].posted[0];
      EXPECT_EQ(reinterpret_cast<uint64_t>(work.local), kLocal + at);
      EXPECT_EQ(work.remote, kRemote + at);
      EXPECT_EQ(work.local_key, 51 + rail);
      EXPECT_EQ(work.remote_key, 71 + rail);
      EXPECT_EQ(at % 4096, 0u);
      at += work.bytes;
    }
    EXPECT_EQ(at, bytes);
    EXPECT_TRUE(near_.posted.empty());
    while (poll() != 0) {
    }
    for (RailDriver& rail : rails_) rail.completed = 0;
  }
}

TEST_F(Stripes, PiecesAreNoLargerThanWhatTheDriverTakes) {
  EXPECT_EQ(post(6 << 20), 3u * 2);
  for (const RailDriver& rail : rails_) {
    ASSERT_EQ(rail.posted.size(), 2u);
    for (const Work& work : rail.posted) EXPECT_EQ(work.bytes, 1u << 20);
  }
  while (poll() != 0) {
  }
}

TEST_F(Stripes, ThePayloadOfALongIsWaitedForOnAllRails) {
  put_striped(1, route_, reinterpret_cast<void*>(kLocal), kRemote, 1 << 20);
  for (const RailDriver& rail : rails_) EXPECT_EQ(rail.completed, 1u);
}

/// Its message goes by the rail of messages, once all of the payload is there. Work that may not
/// wait, and a reply, whose handler holds the lane of one rail, takes that rail alone.
TEST_F(Stripes, OnlyALargeLongOfAClientThatMayWaitTakesAllRails) {
  Route routes[] = {{}, route_};
  routes[1].segment_bytes = ~uint64_t{0};
  engine.routes = routes;
  auto* const source = reinterpret_cast<void*>(kLocal);
  auto* const dest = reinterpret_cast<void*>(kRemote);
  const uint32_t own = engine.rail_to(1);
  const auto posted = [&] {
    std::vector<std::vector<Op>> ops;
    for (RailDriver& rail : rails_) {
      std::vector<Op>& of_rail = ops.emplace_back();
      for (const Work& work : rail.posted) of_rail.push_back(work.op);
      rail.posted.clear();
      rail.completed = 0;
    }
    return ops;
  };
  std::vector<std::vector<Op>> all(kRails, {Op::kPut}), one(kRails);
  all[own].push_back(Op::kSend);
  one[own].push_back(Op::kPutSend);
  const AmCall waits{200, 0, nullptr}, tries{200, 0, nullptr, 0, Patience::kTries};
  EXPECT_EQ(request_long(1, waits, source, 1 << 20, dest, false), Sent::kAll);
  EXPECT_EQ(posted(), all);
  EXPECT_EQ(request_long(1, waits, source, 64 * 1024 - 1, dest, false), Sent::kAll);
  EXPECT_EQ(posted(), one);
  EXPECT_EQ(request_long(1, tries, source, 1 << 20, dest, false), Sent::kAll);
  EXPECT_EQ(posted(), one);
  pinwire_token token{1, 0, true, false};
  engine.drivers[route_.driver_index].caps.hw_rdma = true;
  test::begin_handler(0, route_.driver_index);
  EXPECT_TRUE(reply_long(token, waits, source, 1 << 20, dest));
  test::end_handler(0, route_.driver_index);
  EXPECT_EQ(posted(), one);
  engine.routes = nullptr;
}

TEST_F(Stripes, ARailThatFailsEndsTheJobByItsOwnWords) {
  rails_[2].is_broken = true;
  EXPECT_DEATH(put_striped(1, route_, reinterpret_cast<void*>(kLocal), kRemote, 1 << 20),
               "driver c: its cable was pulled");
}

TEST_F(Stripes, OnlyRoutesOfRailsToTheSegmentOfAttachAreStriped) {
  EXPECT_EQ(engine.stripe_min(route_), 64u * 1024);
  Route first = route_;
  first.driver_index = static_cast<uint8_t>(engine.rail_first);
  EXPECT_EQ(engine.stripe_min(first), 64u * 1024);
  Route near = route_;
  near.driver_index = 0;
  EXPECT_EQ(engine.stripe_min(near), ~uint64_t{0});
  Route bound = route_;
  bound.is_bound = true;
  EXPECT_EQ(engine.stripe_min(bound), ~uint64_t{0}) << "it has the key of one rail";
}

TEST_F(Stripes, TwoRanksAgreeOnTheRailOfTheirMessages) {
  for (Rank one = 0; one < 10; ++one) {
    for (Rank other = 0; other < 10; ++other) {
      engine.rank = one;
      const uint32_t there = engine.rail_to(other);
      engine.rank = other;
      EXPECT_EQ(engine.rail_to(one), there);
      EXPECT_LT(there, kRails);
    }
  }
  engine.rank = 0;
}

}  // namespace
}  // namespace pinwire
