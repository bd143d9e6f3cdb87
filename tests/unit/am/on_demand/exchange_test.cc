// How a rank asks its peers for buckets, and answers theirs: a peer's answer must fit a question,
// and a question that found no room in the driver is asked again.
#include "am/on_demand/exchange.h"

#include <gtest/gtest.h>

#include <vector>

#include "am/handlers/handlers.h"
#include "am/message/message.h"
#include "tests/unit/am/one_peer.h"

namespace pinwire {
namespace {

constexpr Rank kOwner = test::kOnePeer;
constexpr uint32_t kBucketShift = 16;
constexpr uint64_t kAddress = 5 << kBucketShift;
constexpr int32_t kAskersIndex = 4, kOwnersIndex = 3, kKey = 1000, kBucketBytes = 1 << kBucketShift;

class BucketExchange : public test::WithOnePeer {
 protected:
  void SetUp() override {
    WithOnePeer::SetUp();
    if (handler_table[kHandlerBucketGranted] == nullptr) register_exchange();
    routes[kOwner].reach = Reach::kBuckets;
    driver.remote_key = kKey;
    const RemoteCache::Grant grants[] = {{}, {kBucketShift, 1}};
    demand.cache.open(grants);
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
