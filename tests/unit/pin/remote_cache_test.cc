#include "pin/remote_cache.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/base/random.h"

namespace pinwire {
namespace {

using State = RemoteCache::State;

class Cache : public testing::Test {
 protected:
  Cache() {
    const RemoteCache::Grant grants[] = {{}, {16, 2}, {16, 1}};
    cache_.open(grants);
  }
  void answer(Rank peer, uint32_t index, uint32_t owners_index) {
    RemoteCache::Told told;
    told.to = 1;
    told.owners_index = owners_index;
    told.key = owners_index + 1000;
    ASSERT_TRUE(cache_.grant(peer, index, told));
  }
  /// Asked for, granted, and put back.
  void visit(Rank peer, uint64_t number, uint32_t owners_index) {
    const auto want = cache_.ask(peer, number);
    ASSERT_NE(want.index, RemoteCache::kNone);
    answer(peer, want.index, owners_index);
    cache_.put_back(want.index);
  }
  RemoteCache cache_;
};

TEST_F(Cache, AHitNeedsNoQuestion) {
  EXPECT_EQ(cache_.take(1, 7), RemoteCache::kNone);
  visit(1, 7, 5);
  const uint32_t index = cache_.take(1, 7);
  ASSERT_NE(index, RemoteCache::kNone);
  EXPECT_EQ(cache_.at(index).key, 1005u);
  EXPECT_EQ(cache_.take(2, 7), RemoteCache::kNone) << "another peer's memory is another";
  cache_.put_back(index);
}

TEST_F(Cache, ABucketThatIsAskedForIsNotAskedForTwice) {
  const auto want = cache_.ask(1, 7);
  EXPECT_EQ(cache_.take(1, 7), want.index);
  EXPECT_EQ(cache_.at(want.index).state, State::kAsked);
  answer(1, want.index, 3);
  EXPECT_EQ(cache_.at(want.index).uses, 2u);
}

TEST_F(Cache, AWishTakesNothingFromAnyone) {
  const auto want = cache_.wish(1, 7);
  ASSERT_NE(want.index, RemoteCache::kNone);
  EXPECT_EQ(want.gives_back, RemoteCache::kNone);
  EXPECT_EQ(cache_.take(1, 7), want.index) << "others wait for the same answer";
  EXPECT_FALSE(cache_.forget(want.index));
  answer(1, want.index, 70);
  EXPECT_EQ(cache_.at(want.index).uses, 1u) << "of the one that waits";
  cache_.put_back(want.index);
  visit(1, 8, 80);
  EXPECT_EQ(cache_.wish(1, 9).index, RemoteCache::kNone) << "the share is held";
  EXPECT_EQ(cache_.ask(1, 9).gives_back, 70u);
}

TEST_F(Cache, AWishIsForgottenOrRefusedWithoutATrace) {
  const auto unasked = cache_.wish(2, 7);
  EXPECT_TRUE(cache_.forget(unasked.index));
  EXPECT_EQ(cache_.take(2, 7), RemoteCache::kNone);
  const auto refused = cache_.wish(2, 7);
  ASSERT_NE(refused.index, RemoteCache::kNone);
  EXPECT_TRUE(cache_.refuse(2, refused.index));
  EXPECT_EQ(cache_.at(refused.index).state, State::kFree);
  EXPECT_NE(cache_.wish(2, 8).index, RemoteCache::kNone);
}

TEST_F(Cache, TheLongestUnusedIsGivenBackForAnother) {
  visit(1, 7, 70);
  visit(1, 8, 80);
  cache_.put_back(cache_.take(1, 7));
  const auto want = cache_.ask(1, 9);
  EXPECT_EQ(want.gives_back, 80u);
  EXPECT_EQ(cache_.take(1, 8), RemoteCache::kNone);
  EXPECT_EQ(cache_.evictions(), 1u);
}

TEST_F(Cache, WhatIsInUseIsNeverGivenBack) {
  visit(2, 7, 70);
  const uint32_t in_use = cache_.take(2, 7);
  EXPECT_EQ(cache_.ask(2, 8).index, RemoteCache::kNone);
  cache_.put_back(in_use);
  EXPECT_EQ(cache_.ask(2, 8).gives_back, 70u);
}

TEST_F(Cache, ARefusedBucketIsForgotten) {
  const auto want = cache_.ask(2, 7);
  ASSERT_TRUE(cache_.refuse(2, want.index));
  EXPECT_EQ(cache_.at(want.index).state, State::kRefused);
  EXPECT_EQ(cache_.take(2, 7), RemoteCache::kNone);
  cache_.put_back(want.index);
  EXPECT_EQ(cache_.ask(2, 7).gives_back, RemoteCache::kNone) << "the owner holds nothing";
}

TEST_F(Cache, AnswersThatNobodyAskedForAreRefused) {
  EXPECT_FALSE(cache_.refuse(1, 0));
  EXPECT_FALSE(cache_.grant(1, 99, {}));
  for (const uint32_t index : {3u, 4u}) {
    EXPECT_FALSE(cache_.refuse(1, index)) << "about as many buckets as are granted in all";
  }
  const auto want = cache_.ask(1, 7);
  EXPECT_FALSE(cache_.grant(2, want.index, {})) << "from another peer";
  answer(1, want.index, 1);
  EXPECT_FALSE(cache_.grant(1, want.index, {})) << "twice";
}

TEST_F(Cache, ABucketIsOneOfManyOfItsPeersMemory) {
  EXPECT_EQ(cache_.number_of(1, (7 << 16) + 65'535), 7u);
  EXPECT_EQ(cache_.end_of(1, 7), uint64_t{8} << 16);
  EXPECT_EQ(cache_.number_of(1, cache_.end_of(1, 7)), 8u);
}

TEST_F(Cache, WhatIsFoundAndWhatIsNotIsCounted) {
  visit(1, 7, 70);
  for (int i = 0; i < 3; ++i) cache_.put_back(cache_.take(1, 7));
  EXPECT_EQ(cache_.take(1, 8), RemoteCache::kNone);
  EXPECT_EQ(cache_.hits(), 3u);
  EXPECT_EQ(cache_.misses(), 1u) << "of what was asked for";
}

/// The last of the most ranks that a job has, and others that differ from it in one bit.
TEST(RemoteCache, TheBucketsOfAllRanksAreToldApart) {
  constexpr Rank kRanksMax = 1 << 16;
  const std::vector<RemoteCache::Grant> grants(kRanksMax, {16, 1});
  RemoteCache cache;
  cache.open(grants);
  constexpr uint64_t kLastNumber = (uint64_t{1} << 48) - 1;
  EXPECT_NE(cache.ask(kRanksMax - 1, kLastNumber).index, RemoteCache::kNone);
  for (uint32_t bit = 0; bit < 16; ++bit) {
    EXPECT_EQ(cache.take((kRanksMax - 1) ^ (1u << bit), kLastNumber), RemoteCache::kNone) << bit;
  }
  for (uint32_t bit = 0; bit < 48; ++bit) {
    EXPECT_EQ(cache.take(kRanksMax - 1, kLastNumber ^ (uint64_t{1} << bit)), RemoteCache::kNone)
        << bit;
  }
}

TEST_F(Cache, AGrantOfAnythingButAPartOfTheBucketIsRefused) {
  const auto want = cache_.ask(1, 7);
  EXPECT_FALSE(cache_.grant(1, want.index, {.from = 0, .to = (1 << 16) + 1}));
  EXPECT_FALSE(cache_.grant(1, want.index, {.from = 4096, .to = 4096}));
  ASSERT_TRUE(cache_.grant(1, want.index, {.from = 4096, .to = 8192}));
  EXPECT_EQ(cache_.at(want.index).from, (7u << 16) + 4096);
  EXPECT_EQ(cache_.at(want.index).to, (7u << 16) + 8192);
}

TEST(RemoteCache, RandomOperationsAgreeWithAShadow) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    const RemoteCache::Grant grants[] = {{}, {16, 5}, {16, 1}, {16, 8}};
    RemoteCache cache;
    cache.open(grants);
    std::map<std::pair<Rank, uint64_t>, uint32_t> known;  // index
    std::map<Rank, std::set<uint32_t>> owned;             // what the owner thinks is held
    std::vector<uint32_t> in_use;
    uint32_t next_owned = 0;
    for (uint32_t step = 0; step < 20'000; ++step) {
      if (!in_use.empty() && random.below(2) == 0) {
        const size_t which = random.below(in_use.size());
        cache.put_back(in_use[which]);
        in_use.erase(in_use.begin() + static_cast<std::ptrdiff_t>(which));
        continue;
      }
      const Rank peer = 1 + static_cast<Rank>(random.below(3));
      const uint64_t number = random.below(12);
      uint32_t index = cache.take(peer, number);
      const auto found = known.find({peer, number});
      if (index != RemoteCache::kNone) {
        ASSERT_TRUE(found != known.end() && found->second == index)
            << "seed " << seed << " step " << step;
      } else {
        ASSERT_TRUE(found == known.end());
        const auto want = cache.ask(peer, number);
        if (want.index == RemoteCache::kNone) continue;
        if (want.gives_back != RemoteCache::kNone) {
          ASSERT_EQ(owned[peer].erase(want.gives_back), 1u) << "given back twice, or never held";
        }
        std::erase_if(known, [&](const auto& one) {
          return one.first.first == peer && one.second == want.index;
        });
        index = want.index;
        if (random.below(10) == 0) {
          ASSERT_TRUE(cache.refuse(peer, index));
        } else {
          RemoteCache::Told told;
          told.to = 1;
          told.owners_index = next_owned++;
          ASSERT_TRUE(cache.grant(peer, index, told));
          owned[peer].insert(told.owners_index);
          known[{peer, number}] = index;
        }
        ASSERT_LE(owned[peer].size(), grants[peer].buckets);
      }
      in_use.push_back(index);
    }
  }
}

}  // namespace
}  // namespace pinwire
