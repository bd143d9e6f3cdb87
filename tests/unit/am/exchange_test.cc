// How a rank asks its peers for buckets, and answers theirs: a peer's answer must fit a question,
// and a question that found no room in the driver is asked again.
#include "am/exchange.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <utility>
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
constexpr int32_t kAskersIndex = 4, kOwnersIndex = 3, kKey = 1000, kBucketBytes = 1 << kBucketShift;

/// Takes the questions of rank 0, and its answers, while it has room.
class Asked final : public test::IdleDriver {
 public:
  std::vector<uint8_t> handlers;  ///< of each message that was taken
  std::vector<int32_t> last_args;
  bool has_room = true, can_pin = true;
  std::function<void()> at_poll;  ///< once

  Result<Region> pin(void* base, uint64_t bytes, int, uint64_t) override {
    if (!can_pin) return error("it is full");
    return Region{.base = reinterpret_cast<uint64_t>(base), .bytes = bytes, .remote_key = kKey};
  }
  uint32_t recv(uint32_t, RecvFilter, std::span<Recv>) noexcept override {
    if (auto happens = std::exchange(at_poll, nullptr)) happens();
    return 0;
  }

  uint32_t post(uint32_t, std::span<const Work> works) noexcept override {
    if (!has_room) return 0;
    for (const Work& work : works) {
      EXPECT_EQ(work.peer, kOwner);
      AmHeader header;
      std::memcpy(&header, work.head, sizeof header);
      handlers.push_back(header.handler);
      last_args.resize(header.argc());
      std::memcpy(last_args.data(), static_cast<const std::byte*>(work.head) + sizeof header,
                  4 * last_args.size());
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
  template <size_t kArguments>
  void arrive(MessageClass cls, uint8_t handler, const int32_t (&args)[kArguments]) {
    AmHead head;
    const uint32_t bytes = build_head(head, Category::kShort, handler, kArguments, args, 0, 0);
    alignas(16) std::byte buffer[8 + sizeof head];
    std::memcpy(buffer + 8, &head, bytes);
    dispatch(0, {buffer + 8, bytes, kOwner, 0, cls});
  }
  /// A reply of the owner.
  template <size_t kArguments>
  void answer(uint8_t handler, const int32_t (&args)[kArguments]) {
    arrive(MessageClass::kReply, handler, args);
  }
  /// Rank 1 asks for the only bucket of this rank.
  void ask(uint32_t gives_back) {
    constexpr uint64_t kNumber = kAddress >> kBucketShift;
    arrive(MessageClass::kRequest, kHandlerBucketWanted,
           {kAskersIndex, static_cast<int32_t>(gives_back), low_half(kNumber), high_half(kNumber)});
  }
  void own_one_bucket() {
    demand.own.open(driver, {kBucketShift, 1, 1, 0, 0}, 2, kAddress, kBucketBytes);
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

TEST_F(BucketExchange, OfABucketThatIsPinnedInPartOnlyThatIsKnown) {
  constexpr int32_t kFrom = 4096, kTo = 8192;
  known_or_wished(kOwner, kAddress);
  answer(kHandlerBucketGranted, {0, kOwnersIndex, kKey, kFrom, kTo});
  EXPECT_EQ(known_bucket(kOwner, kAddress + kFrom - 1).key, kNoRegion);
  EXPECT_EQ(known_bucket(kOwner, kAddress + kTo).key, kNoRegion);
  const RemoteBucket bucket = known_bucket(kOwner, kAddress + kFrom);
  EXPECT_EQ(bucket.key, uint32_t{kKey});
  EXPECT_EQ(bucket.end, kAddress + kTo);
  demand.put_back(bucket.index);
}

TEST_F(BucketExchange, WhoNeedsABucketWaitsForTheOwnersAnswer) {
  driver.at_poll = [&] { grant(0); };
  const RemoteBucket bucket = reach_bucket(kOwner, kAddress);
  EXPECT_EQ(bucket.key, uint32_t{kKey});
  EXPECT_EQ(driver.handlers, std::vector<uint8_t>{kHandlerBucketWanted});
  const RemoteBucket again = reach_bucket(kOwner, kAddress);
  EXPECT_EQ(again.key, uint32_t{kKey});
  EXPECT_EQ(driver.handlers.size(), 1u) << "it is known";
  demand.put_back(bucket.index);
  demand.put_back(again.index);
  EXPECT_NE(demand.cache.ask(kOwner, 9).index, RemoteCache::kNone) << "nobody uses it any more";
}

TEST_F(BucketExchange, WhoNeedsABucketThatTheOwnerRefusesLearnsOfIt) {
  driver.at_poll = [&] { answer(kHandlerBucketRefused, {0}); };
  EXPECT_EQ(reach_bucket(kOwner, kAddress).key, kNoRegion);
  driver.at_poll = [&] { grant(0); };
  EXPECT_EQ(reach_bucket(kOwner, kAddress).key, uint32_t{kKey}) << "the next asks again";
  EXPECT_EQ(driver.handlers.size(), 2u);
}

TEST_F(BucketExchange, WhoNeedsABucketWhileAllAreInUseWaitsUntilOneIsPutBack) {
  driver.at_poll = [&] { grant(0); };
  const RemoteBucket first = reach_bucket(kOwner, kAddress);
  driver.at_poll = [&] {
    demand.put_back(first.index);
    driver.at_poll = [&] { grant(0); };
  };
  EXPECT_EQ(reach_bucket(kOwner, kAddress + kBucketBytes).key, uint32_t{kKey});
  ASSERT_EQ(driver.last_args.size(), 4u);
  EXPECT_EQ(driver.last_args[1], kOwnersIndex) << "its owner may use that otherwise";
}

TEST_F(BucketExchange, AnOwnerAnswersWithTheKeyOfWhatItHasPinned) {
  own_one_bucket();
  ask(Buckets::kNone);
  EXPECT_EQ(driver.handlers, std::vector<uint8_t>{kHandlerBucketGranted});
  ASSERT_EQ(driver.last_args.size(), 5u);
  const int32_t index = driver.last_args[1];
  EXPECT_EQ(driver.last_args, (std::vector<int32_t>{kAskersIndex, index, kKey, 0, kBucketBytes}));
  ask(static_cast<uint32_t>(index));
  EXPECT_EQ(driver.handlers.back(), kHandlerBucketGranted) << "it was given back";
}

TEST_F(BucketExchange, AnOwnerThatCannotPinRefuses) {
  own_one_bucket();
  driver.can_pin = false;
  ask(Buckets::kNone);
  EXPECT_EQ(driver.handlers, std::vector<uint8_t>{kHandlerBucketRefused});
  EXPECT_EQ(driver.last_args, std::vector<int32_t>{kAskersIndex});
}

using BucketExchangeDeath = BucketExchange;

TEST_F(BucketExchangeDeath, AQuestionOfWhoHoldsNothingLikeThatEndsTheJob) {
  own_one_bucket();
  EXPECT_DEATH(ask(0), "rank 1 sent a request for a bucket that makes no sense");
}

TEST_F(BucketExchangeDeath, AMessageAboutBucketsOfADriverThatHasNoneEndsTheJob) {
  demands[0] = nullptr;
  EXPECT_DEATH(ask(Buckets::kNone), "rank 1 sent a request for a bucket that makes no sense");
  EXPECT_DEATH(grant(0), "rank 1 sent a grant of a bucket that makes no sense");
  EXPECT_DEATH(answer(kHandlerBucketRefused, {0}),
               "rank 1 sent the refusal of a bucket that makes no sense");
}

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
