// How a rank asks its peers for buckets: a peer's answer must fit a question, and a question that
// found no room in the driver is asked again.
#include "am/exchange.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "am/handlers.h"
#include "am/message.h"
#include "am/progress.h"
#include "pin/demand.h"
#include "tests/support/idle_driver.h"

namespace pinwire {
namespace {

constexpr Rank kOwner = 1;
constexpr uint32_t kBucketShift = 16;
constexpr uint64_t kAddress = 5 << kBucketShift;
constexpr int32_t kOwnersIndex = 3, kKey = 1000, kBucketBytes = 1 << kBucketShift;

/// Takes the questions of rank 0 while it has room.
class Asked final : public test::IdleDriver {
 public:
  std::vector<uint8_t> handlers;  ///< of each message that was taken
  bool has_room = true;

  uint32_t post(uint32_t, std::span<const Work> works) noexcept override {
    if (!has_room) return 0;
    for (const Work& work : works) {
      EXPECT_EQ(work.peer, kOwner);
      handlers.push_back(static_cast<const uint8_t*>(work.head)[0]);
    }
    return static_cast<uint32_t>(works.size());
  }
};

class BucketExchange : public testing::Test {
 protected:
  void SetUp() override {
    if (handler_table[kHandlerBucketGranted] == nullptr) register_exchange();
    engine.drivers[0].driver = &driver;
    engine.drivers[0].caps = driver.caps();
    engine.driver_count = 1;
    engine.rank_count = 2;
    engine.routes = routes;
    routes[kOwner] = {.driver = &driver, .reach = Reach::kBuckets};
    const RemoteCache::Grant grants[] = {{}, {kBucketShift, 1}};
    demand.cache.open(grants);
    demands[0] = &demand;
  }
  void TearDown() override {
    demands[0] = nullptr;
    engine.drivers[0].driver = nullptr;
    engine.drivers[0].caps = {};
    engine.driver_count = 0;
    engine.rank_count = 1;
    engine.routes = nullptr;
  }
  /// A reply of the owner arrives.
  template <size_t kArguments>
  void answer(uint8_t handler, const int32_t (&args)[kArguments]) {
    AmHead head;
    const uint32_t bytes = build_head(head, Category::kShort, handler, kArguments, args, 0, 0);
    alignas(16) std::byte buffer[8 + sizeof head];
    std::memcpy(buffer + 8, &head, bytes);
    dispatch(0, {buffer + 8, bytes, kOwner, 0, MessageClass::kReply});
  }
  void grant(int32_t asker_index) {
    answer(kHandlerBucketGranted, {asker_index, kOwnersIndex, kKey, 0, kBucketBytes});
  }

  Asked driver;
  Route routes[2];
  Demand demand;
};

TEST_F(BucketExchange, AWishIsKnownOnceTheOwnerHasGrantedIt) {
  EXPECT_EQ(known_or_wished(kOwner, kAddress).key, kNoRegion);
  EXPECT_EQ(driver.handlers, std::vector<uint8_t>{kHandlerBucketWanted});
  EXPECT_EQ(known_or_wished(kOwner, kAddress).key, kNoRegion);
  EXPECT_EQ(driver.handlers.size(), 1u) << "it is asked for once";
  grant(0);
  const RemoteBucket bucket = known_or_wished(kOwner, kAddress);
  EXPECT_EQ(bucket.key, uint32_t{kKey});
  demand.put_back(bucket.index);
}

TEST_F(BucketExchange, AWishThatFoundNoRoomIsMadeAgainByTheNextTransfer) {
  driver.has_room = false;
  EXPECT_EQ(known_or_wished(kOwner, kAddress).key, kNoRegion);
  EXPECT_TRUE(driver.handlers.empty());
  driver.has_room = true;
  EXPECT_EQ(known_or_wished(kOwner, kAddress).key, kNoRegion);
  EXPECT_EQ(driver.handlers, std::vector<uint8_t>{kHandlerBucketWanted});
  grant(0);
  const RemoteBucket bucket = known_bucket(kOwner, kAddress);
  EXPECT_EQ(bucket.key, uint32_t{kKey});
  demand.put_back(bucket.index);
}

using BucketExchangeDeath = BucketExchange;

TEST_F(BucketExchangeDeath, AnAnswerThatFitsNoQuestionEndsTheJob) {
  EXPECT_DEATH(grant(0), "rank 1 sent a grant of a bucket that makes no sense");
  EXPECT_DEATH(answer(kHandlerBucketRefused, {0}),
               "rank 1 sent the refusal of a bucket that makes no sense");
}

TEST_F(BucketExchangeDeath, AGrantOfMoreThanABucketEndsTheJob) {
  known_or_wished(kOwner, kAddress);
  EXPECT_DEATH(answer(kHandlerBucketGranted, {0, kOwnersIndex, kKey, 0, kBucketBytes + 1}),
               "rank 1 sent a grant of a bucket that makes no sense");
}

}  // namespace
}  // namespace pinwire
