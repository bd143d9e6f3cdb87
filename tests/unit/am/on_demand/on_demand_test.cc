// How transfers are cut where memory is pinned in parts, by which keys the pieces go, and what they
// give back.
#include "am/on_demand/on_demand.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "am/handlers/handlers.h"
#include "am/message/call.h"
#include "am/message/done_count.h"
#include "am/on_demand/exchange.h"
#include "am/on_demand/visit.h"
#include "am/poll/poll.h"
#include "tests/unit/am/held_lane.h"
#include "tests/unit/am/one_peer.h"

namespace pinwire {
namespace {

class OnDemand : public test::WithOnePeer {
 protected:
  static constexpr Rank kPeer = test::kOnePeer;
  static constexpr uint32_t kBucketShift = 16, kShare = 4;
  static constexpr uint64_t kBucketBytes = 1 << kBucketShift;
  static constexpr uint64_t kRemote = 40 * kBucketBytes + 1'000;  ///< in the middle of a bucket
  static constexpr uint32_t kPeersKey = 1000, kOwnKey = 2000, kVisitKey = 70;
  static constexpr uint64_t kPutMax = 48 << 10, kCopiedMax = 8 << 10, kInlineMax = 64,
                            kCarried = 4 << 10;
  static constexpr uint64_t kAloneBytes = kAloneBytesMin + 5'000;

  void SetUp() override {
    if (handler_table[kHandlerBucketGranted] == nullptr) register_exchange();
    if (handler_table[kHandlerVisitAnswer] == nullptr) register_visits();
    driver.all_caps.send_bytes_max = kHeadBytesMax + kCarried;
    driver.all_caps.put_bytes_max = kPutMax;
    driver.all_caps.inline_bytes_max = driver.all_caps.eager_bytes_max = kInlineMax;
    driver.all_caps.copied_bytes_max = kCopiedMax;
    driver.local_key = kOwnKey;
    WithOnePeer::SetUp();
    routes[kPeer].reach = Reach::kBuckets;
    const RemoteCache::Grant grants[] = {{}, {kBucketShift, kShare}};
    demand.cache.open(grants);
    demand.own.open(driver, {kBucketShift, 1, 1, 3, 1 << 20}, 2, own(), kOwnBytes);
    driver.at_poll = [this] { serve(); };
  }

  /// The peer answers what it was asked for last.
  void serve() {
    driver.at_poll = [this] { serve(); };
    if (driver.handlers.size() == served_) return;
    served_ = driver.handlers.size();
    const auto& args = driver.last_args;
    if (driver.handlers.back() == kHandlerVisit) {
      arrive(MessageClass::kReply, kHandlerVisitAnswer,
             {args[0], args[1], static_cast<int32_t>(visit_key), 3});
    } else if (driver.handlers.back() == kHandlerBucketWanted && args[2] == refused_bucket) {
      arrive(MessageClass::kReply, kHandlerBucketRefused, {args[0]});
    } else if (driver.handlers.back() == kHandlerBucketWanted) {
      const int32_t key = static_cast<int32_t>(kPeersKey) + args[2];
      arrive(MessageClass::kReply, kHandlerBucketGranted, {args[0], args[2], key, 0, kBucketBytes});
    }
  }

  uint64_t own() const { return reinterpret_cast<uint64_t>(own_); }
  static uint32_t peers_key(uint64_t address) {
    return kPeersKey + static_cast<uint32_t>(address >> kBucketShift);
  }
  uint32_t put(const std::byte* source, uint64_t bytes, bool is_copied = false,
               Patience patience = Patience::kWaits) {
    const Path path{.kind = kind_, .is_copied = is_copied};
    return put_on_demand(path, kPeer, kRemote, source, bytes, done_, patience);
  }
  void finish() {
    driver.finishes = true;
    for (int i = 0; i < 100; ++i) poll();
  }
  /// All pieces, each up to `bytes_max`, follow each other, within one bucket of the peer's each.
  void expect_pieces(Op op, const std::byte* local, uint64_t bytes, uint64_t bytes_max) {
    uint64_t at = 0;
    for (const Work& work : driver.moved) {
      EXPECT_EQ(work.op, op);
      EXPECT_EQ(work.local, local + at);
      EXPECT_EQ(work.remote, kRemote + at);
      EXPECT_EQ(work.remote_key, peers_key(work.remote));
      EXPECT_EQ(work.remote >> kBucketShift, (work.remote + work.bytes - 1) >> kBucketShift);
      EXPECT_LE(work.bytes, bytes_max);
      at += work.bytes;
    }
    EXPECT_EQ(at, bytes);
  }
  /// Nothing is in use: a transfer may have all buckets of the peer, and of this rank.
  void expect_all_is_given_back() {
    for (uint64_t number = 0; number < kShare; ++number)
      EXPECT_NE(demand.cache.ask(kPeer, 90 + number).index, RemoteCache::kNone) << number;
    for (uint64_t number = 0; number < 3; ++number) {
      EXPECT_NE(demand.own.use(own_ + (number + 4) * kBucketBytes, true).index, Buckets::kNone);
    }
  }

  static constexpr uint64_t kOwnBytes = 8 * kBucketBytes;
  alignas(kBucketBytes) std::byte own_[kOwnBytes];
  std::vector<std::byte> foreign_ = std::vector<std::byte>(kAloneBytes);  ///< in no bucket
  int32_t refused_bucket = -1;
  uint32_t visit_key = kVisitKey;
  PathKind kind_ = PathKind::kBuckets;
  DoneCount done_{0};

 private:
  size_t served_ = 0;
};

TEST_F(OnDemand, APutIsCutWhereBucketsOfEitherSideEnd) {
  constexpr uint64_t kAll = 100'000;
  const std::byte* source = own_ + 30'000;
  driver.finishes = false;
  const uint32_t count = put(source, kAll);
  EXPECT_EQ(count, driver.moved.size());
  expect_pieces(Op::kPut, source, kAll, kPutMax);
  for (const Work& work : driver.moved) {
    EXPECT_EQ(work.local_key, kOwnKey);
    EXPECT_EQ(work.flags, 0);
    const auto local = reinterpret_cast<uint64_t>(work.local);
    EXPECT_EQ(local >> kBucketShift, (local + work.bytes - 1) >> kBucketShift);
  }
  EXPECT_EQ(done_, 0u);
  finish();
  EXPECT_EQ(done_, count);
  expect_all_is_given_back();
}

TEST_F(OnDemand, AGetIsCutLikewise) {
  constexpr uint64_t kAll = 100'000;
  const uint32_t count = get_on_demand({.kind = kind_}, kPeer, kRemote, own_ + 9, kAll, done_);
  EXPECT_EQ(count, driver.moved.size());
  expect_pieces(Op::kGet, own_ + 9, kAll, kPutMax);
  finish();
  EXPECT_EQ(done_, count);
  expect_all_is_given_back();
}

TEST_F(OnDemand, WhatIsNotPinnedIsCopiedInPieces) {
  EXPECT_EQ(put(foreign_.data(), 20'000), 3u);
  expect_pieces(Op::kPut, foreign_.data(), 20'000, kCopiedMax);
  for (const Work& work : driver.moved) {
    EXPECT_EQ(work.local_key, kNoRegion);
    EXPECT_EQ(work.flags, 0);
  }
  EXPECT_EQ(demand.own.counters().bounces, 3u);
  finish();
  expect_all_is_given_back();
}

/// The driver copies up to that cheaper than it attaches memory.
TEST_F(OnDemand, AFewBytesArePutWithoutAKey) {
  EXPECT_EQ(put(own_, kInlineMax), 1u);
  EXPECT_EQ(driver.moved[0].local_key, kNoRegion);
  EXPECT_EQ(driver.pins, 0u);
  EXPECT_EQ(demand.own.counters().bounces, 0u);
}

/// Whatever is known of its memory.
TEST_F(OnDemand, APutWhoseSourceIsFreeOnReturnIsCopied) {
  ASSERT_NE(demand.own.use(own_, true).index, Buckets::kNone);
  EXPECT_EQ(put(own_, kCopiedMax + 1, true), 2u);
  for (const Work& work : driver.moved) {
    EXPECT_EQ(work.flags, kWorkCopied);
    EXPECT_EQ(work.local_key, kNoRegion);
  }
  EXPECT_EQ(demand.own.counters().bounces, 0u);
}

TEST_F(OnDemand, WhatThePeerCannotPinGoesByMessages) {
  refused_bucket = kRemote >> kBucketShift;
  constexpr uint64_t kInBucket = kBucketBytes - kRemote % kBucketBytes, kMore = 500;
  const uint32_t count = put(own_, kInBucket + kMore);
  EXPECT_EQ(count, (kInBucket + kCarried - 1) / kCarried + 1);
  ASSERT_EQ(driver.moved.size(), 1u);
  EXPECT_EQ(driver.moved[0].bytes, kMore);
  EXPECT_EQ(driver.moved[0].local, own_ + kInBucket);
  EXPECT_EQ(driver.moved[0].remote, kRemote + kInBucket);
  EXPECT_EQ(std::count(driver.handlers.begin(), driver.handlers.end(), kHandlerPut), count - 1);
}

TEST_F(OnDemand, AGetOfWhatThePeerCannotPinAsksForIt) {
  refused_bucket = kRemote >> kBucketShift;
  EXPECT_EQ(get_on_demand({.kind = kind_}, kPeer, kRemote, own_, kCarried, done_), 1u);
  EXPECT_EQ(driver.handlers.back(), kHandlerGet);
  EXPECT_TRUE(driver.moved.empty());
}

/// A transfer that may not wait takes what is known, and asks for the rest without waiting for it.
TEST_F(OnDemand, WhatMayNotWaitGoesByMessagesUntilABucketIsKnown) {
  EXPECT_EQ(put(own_, 100, false, Patience::kTries), 1u);
  EXPECT_EQ(driver.handlers, (std::vector<uint8_t>{kHandlerBucketWanted, kHandlerPut}));
  const int32_t key = static_cast<int32_t>(peers_key(kRemote));
  arrive(MessageClass::kReply, kHandlerBucketGranted, {0, 9, key, 0, kBucketBytes});
  EXPECT_EQ(put(own_, 100, false, Patience::kTries), 1u);
  expect_pieces(Op::kPut, own_, 100, 100);
}

TEST_F(OnDemand, WhatMayNotWaitAndFindsNoRoomIsNothing) {
  ASSERT_EQ(put(own_, kCopiedMax + 1), 1u);
  finish();
  driver.has_room = false;
  for (int i = 0; i < 5'000; ++i)  // more than there are records of what is under way
    ASSERT_EQ(put(own_, kCopiedMax + 1, false, Patience::kTries), 0u);
  refused_bucket = kRemote >> kBucketShift;
  const Path path{.kind = kind_};
  EXPECT_EQ(put_on_demand(path, kPeer, kRemote + kBucketBytes, own_, 8, done_, Patience::kTries),
            0u);
  driver.has_room = true;
  EXPECT_EQ(driver.moved.size(), 1u);
  EXPECT_EQ(done_, 1u);
  expect_all_is_given_back();
}

/// All records of transfers under way are taken.
TEST_F(OnDemand, WhatCannotBeTrackedWaitsOrIsNothing) {
  ASSERT_EQ(put(own_, 100), 1u);
  finish();
  std::vector<Tracked*> all;
  while (Tracked* tracked = take_tracked()) all.push_back(tracked);
  EXPECT_EQ(put(own_, 100, false, Patience::kTries), 0u);
  EXPECT_EQ(driver.moved.size(), 1u);
  driver.at_poll = [&] {
    EXPECT_EQ(driver.moved.size(), 1u);
    finish_tracked(cookie_of(*all.back()));
    all.pop_back();
  };
  EXPECT_EQ(put(own_, 100), 1u);
  EXPECT_EQ(driver.moved.size(), 2u);
  for (const Tracked* tracked : all) finish_tracked(cookie_of(*tracked));
  finish();
  expect_all_is_given_back();
}

class OnDemandAlone : public OnDemand {
 protected:
  void SetUp() override {
    OnDemand::SetUp();
    routes[kPeer].reach = Reach::kWhole;
    routes[kPeer].region_key = kVisitKey;
    kind_ = PathKind::kPinned;
  }
};

TEST_F(OnDemandAlone, ALargeTransferIsPinnedUntilItsLastPieceIsDone) {
  driver.finishes = false;
  const uint32_t count = put(foreign_.data(), kAloneBytes);
  EXPECT_EQ(count, (kAloneBytes + kPutMax - 1) / kPutMax);
  EXPECT_EQ(driver.moved.size(), count);
  uint64_t at = 0;
  for (const Work& work : driver.moved) {
    EXPECT_EQ(work.local, foreign_.data() + at);
    EXPECT_EQ(work.remote, kRemote + at);
    EXPECT_EQ(work.remote_key, kVisitKey);
    EXPECT_EQ(work.local_key, kOwnKey);
    at += work.bytes;
  }
  EXPECT_EQ(at, kAloneBytes);
  EXPECT_EQ(driver.pins, 1u);
  finish();
  EXPECT_EQ(driver.pins, 0u);
  EXPECT_EQ(done_, count);
}

TEST_F(OnDemandAlone, WhatCannotBePinnedIsCopiedInPieces) {
  driver.can_pin = false;
  for (int i = 0; i < 300; ++i) {  // more than may be pinned at once
    ASSERT_EQ(put(foreign_.data(), kAloneBytesMin), kAloneBytesMin / kCopiedMax);
    finish();
  }
  EXPECT_EQ(driver.moved[0].local_key, kNoRegion);
  EXPECT_EQ(driver.moved[0].bytes, kCopiedMax);
  driver.can_pin = true;
  driver.moved.clear();
}

TEST_F(OnDemandAlone, WhatIsSmallOrCopiedOrInABucketIsNotPinnedAlone) {
  put(foreign_.data(), kAloneBytesMin - 1);
  put(foreign_.data(), kAloneBytesMin, true);
  EXPECT_EQ(driver.pins, 0u);
  put(own_, kAloneBytesMin);
  finish();
  EXPECT_GE(driver.pins, 1u) << "buckets stay";
}

TEST_F(OnDemandAlone, WhatMayNotWaitAndFindsNoRoomIsNotPinned) {
  driver.has_room = false;
  EXPECT_EQ(put(foreign_.data(), kAloneBytes, false, Patience::kTries), 0u);
  EXPECT_EQ(driver.pins, 0u);
}

class OnDemandVisit : public OnDemand {
 protected:
  void SetUp() override {
    OnDemand::SetUp();
    routes[kPeer].reach = Reach::kMessages;
    kind_ = PathKind::kVisit;
  }
};

TEST_F(OnDemandVisit, APeerPinsForOneTransferAndIsToldOfItsEnd) {
  driver.finishes = false;
  int polls = 0;
  driver.at_poll = [&] {
    serve();
    driver.at_poll = [&] {
      EXPECT_EQ(driver.handlers, std::vector<uint8_t>{kHandlerVisit});
      EXPECT_EQ(driver.moved.size(), (kAloneBytes + kPutMax - 1) / kPutMax);
      driver.finishes = true;
      ++polls;
    };
  };
  EXPECT_EQ(put(foreign_.data(), kAloneBytes), 0u) << "it is done";
  EXPECT_EQ(polls, 1);
  EXPECT_EQ(done_, 0u);
  EXPECT_EQ(driver.handlers, (std::vector<uint8_t>{kHandlerVisit, kHandlerVisitEnd}));
  EXPECT_EQ(driver.moved[0].remote_key, kVisitKey);
  EXPECT_EQ(driver.moved[0].op, Op::kPut);
  EXPECT_EQ(driver.pins, 0u);
}

TEST_F(OnDemandVisit, WhatAsksNoOwnerOrIsRefusedGoesByMessages) {
  kind_ = PathKind::kMessages;
  EXPECT_EQ(put(foreign_.data(), 2 * kCarried), 2u);
  EXPECT_EQ(driver.handlers, (std::vector<uint8_t>{kHandlerPut, kHandlerPut}));
  kind_ = PathKind::kVisit;
  visit_key = kNoRegion;
  EXPECT_EQ(put(foreign_.data(), kCarried), 1u);
  EXPECT_EQ(driver.handlers.back(), kHandlerPut);
  EXPECT_TRUE(driver.moved.empty());
}

class OnDemandLong : public OnDemand {
 protected:
  static constexpr uint8_t kHandler = 200;
  bool send(const std::byte* source, size_t bytes, bool is_async = false,
            const pinwire_token* token = nullptr, Patience patience = Patience::kWaits) {
    const int32_t args[] = {77};
    const AmCall call{kHandler, 1, args, 0, patience};
    const Path path{.kind = kind_, .is_copied = bytes <= kInlineMax};
    return long_on_demand(path, token, kPeer, call, source, bytes, reinterpret_cast<void*>(kRemote),
                          is_async);
  }
  void know_bucket() {
    const RemoteBucket bucket = reach_bucket(kPeer, kRemote);
    ASSERT_NE(bucket.key, kNoRegion);
    demand.put_back(bucket.index);
    driver.handlers.clear();
  }
};

TEST_F(OnDemandLong, OfOneBucketIsAPutThatIsSeenBeforeItsMessage) {
  driver.finishes = false;
  bool was_posted = false;
  know_bucket();
  driver.at_poll = [&] {
    was_posted = driver.moved.size() == 1;
    driver.finishes = true;
  };
  EXPECT_TRUE(send(own_ + 5, 20'000));
  EXPECT_TRUE(was_posted) << "it returns once its source is free";
  ASSERT_EQ(driver.moved.size(), 1u);
  const Work& work = driver.moved[0];
  EXPECT_EQ(work.op, Op::kPutSend);
  EXPECT_EQ(work.cls, MessageClass::kRequest);
  EXPECT_EQ(work.flags, 0);
  EXPECT_EQ(work.local, own_ + 5);
  EXPECT_EQ(work.bytes, 20'000u);
  EXPECT_EQ(work.remote, kRemote);
  EXPECT_EQ(work.remote_key, peers_key(kRemote));
  EXPECT_EQ(work.local_key, kOwnKey);
  EXPECT_EQ(driver.handlers, std::vector<uint8_t>{kHandler});
  expect_all_is_given_back();
}

/// The reply goes by what is known of the peer's memory, as nothing may be asked for; the handler
/// waits until its source is free.
TEST_F(OnDemandLong, ReplyOfAKnownBucketWaitsInItsHandler) {
  know_bucket();
  const pinwire_token token{kPeer, 0, true, false, 0, false, 0, 0};
  driver.finishes = false;
  bool has_waited = false;
  driver.at_poll = [&] { has_waited = driver.finishes = true; };
  test::begin_handler();
  EXPECT_TRUE(send(own_, 20'000, false, &token));
  test::end_handler();
  EXPECT_TRUE(has_waited);
  ASSERT_EQ(driver.moved.size(), 1u);
  EXPECT_EQ(driver.moved[0].op, Op::kPutSend);
  EXPECT_EQ(driver.moved[0].cls, MessageClass::kReply);
  expect_all_is_given_back();
}

TEST_F(OnDemandLong, ReplyToMemoryThatIsNotKnownGoesByMessages) {
  const pinwire_token token{kPeer, 0, true, false, 0, false, 0, 0};
  test::begin_handler();
  EXPECT_TRUE(send(own_, kCarried + 1, false, &token));
  test::end_handler();
  EXPECT_EQ(driver.handlers, (std::vector<uint8_t>{kHandlerPlace, kHandler}));
  EXPECT_TRUE(driver.moved.empty());
}

TEST_F(OnDemandLong, ThatFindsNoRoomAndMayNotWaitIsNothing) {
  know_bucket();
  driver.has_room = false;
  for (int i = 0; i < 5'000; ++i)  // more than there are records of what is under way
    ASSERT_FALSE(send(own_, 20'000, false, nullptr, Patience::kTries));
  driver.has_room = true;
  EXPECT_TRUE(driver.moved.empty());
  expect_all_is_given_back();
}

/// Only a pinned source may be read as late as the device likes (C1-146).
TEST_F(OnDemandLong, ThatIsAsynchronousWaitsOnlyForASourceThatIsNotPinned) {
  know_bucket();
  driver.finishes = false;
  EXPECT_TRUE(send(own_, 20'000, true));
  EXPECT_EQ(driver.moved.size(), 1u);
  bool has_waited = false;
  driver.at_poll = [&] { has_waited = driver.finishes = true; };
  EXPECT_TRUE(send(foreign_.data(), kCopiedMax, true));
  EXPECT_TRUE(has_waited);
  finish();
  expect_all_is_given_back();
}

TEST_F(OnDemandLong, ThatIsCopiedWaitsForNothing) {
  know_bucket();
  driver.finishes = false;
  EXPECT_TRUE(send(own_, kInlineMax));
  ASSERT_EQ(driver.moved.size(), 1u);
  EXPECT_EQ(driver.moved[0].flags, kWorkCopied);
  EXPECT_EQ(driver.moved[0].local_key, kNoRegion);
  finish();
  expect_all_is_given_back();
}

/// Beyond the bucket, more than one put moves, and more than can be copied at once.
TEST_F(OnDemandLong, ThatFitsNoPutGoesAheadAsPuts) {
  constexpr uint64_t kInBucket = kBucketBytes - kRemote % kBucketBytes;
  EXPECT_TRUE(send(own_, kInBucket + 1));
  for (const Work& work : driver.moved) EXPECT_EQ(work.op, Op::kPut);
  EXPECT_EQ(driver.handlers.back(), kHandler);
  expect_pieces(Op::kPut, own_, kInBucket + 1, kPutMax);
  expect_all_is_given_back();
}

}  // namespace
}  // namespace pinwire
