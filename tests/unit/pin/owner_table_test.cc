#include "pin/owner_table.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/base/random.h"

namespace pinwire {
namespace {

Region region_of(uint64_t number, uint32_t generation) {
  return {number << 16, 1 << 16, static_cast<uint32_t>(number) + 1, generation + 1};
}

class Table : public testing::Test {
 protected:
  Table() { table_.open({16, 2, 4, 2}, 3); }  // six buckets: two for each of ranks 1 and 2, two own
  uint32_t pin(uint64_t number, uint32_t generation = 0) {
    const auto victim = table_.make_room();
    if (victim.is_any) unpinned_.push_back(victim.region.base >> 16);
    return table_.add(number, region_of(number, generation), generation);
  }
  OwnerTable table_;
  std::vector<uint64_t> unpinned_;
};

TEST_F(Table, IdleBucketsStayUntilTheirRoomIsNeededThenTheLongestIdleGoes) {
  for (uint64_t number = 10; number < 16; ++number) pin(number);
  EXPECT_TRUE(unpinned_.empty());
  const uint32_t first = table_.find(10, 0);
  ASSERT_TRUE(table_.use(first));
  table_.done(first);  // now the one used last
  pin(20);
  pin(21);
  EXPECT_EQ(unpinned_, (std::vector<uint64_t>{11, 12}));
  EXPECT_NE(table_.find(10, 0), OwnerTable::kNone);
  EXPECT_EQ(table_.find(11, 0), OwnerTable::kNone);
}

TEST_F(Table, APeerHoldsNoMoreThanItsShare) {
  EXPECT_TRUE(table_.hold(pin(1), 1));
  EXPECT_TRUE(table_.hold(pin(2), 1));
  const uint32_t third = pin(3);
  EXPECT_FALSE(table_.hold(third, 1));
  EXPECT_TRUE(table_.hold(third, 2));
  EXPECT_TRUE(table_.let_go(table_.find(1, 0), 1));
  EXPECT_TRUE(table_.hold(third, 1)) << "two peers may hold one";
}

TEST_F(Table, WhatNoPeerMaySayIsRefused) {
  const uint32_t index = pin(1);
  EXPECT_FALSE(table_.let_go(index, 1)) << "nobody holds it";
  EXPECT_FALSE(table_.let_go(99, 1));
  ASSERT_TRUE(table_.hold(index, 1));
  EXPECT_FALSE(table_.let_go(index, 2)) << "that peer holds nothing";
  EXPECT_TRUE(table_.let_go(index, 1));
}

TEST_F(Table, ABucketOfAnotherGenerationIsNotFoundAndGoesFirst) {
  const uint32_t held = pin(1), idle = pin(2);
  ASSERT_TRUE(table_.hold(held, 1));
  EXPECT_EQ(table_.find(1, 1), OwnerTable::kNone);
  EXPECT_EQ(table_.find(2, 1), OwnerTable::kNone);
  pin(1, 1);
  for (uint64_t number = 10; number < 14; ++number) pin(number, 1);
  EXPECT_EQ(unpinned_, std::vector<uint64_t>{2});
  EXPECT_EQ(table_.at(idle).number, 13u) << "its place was taken";
  ASSERT_TRUE(table_.let_go(held, 1)) << "who holds the old one can still give it back";
  pin(14, 1);
  EXPECT_EQ(unpinned_, (std::vector<uint64_t>{2, 1}));
}

TEST_F(Table, OwnTransfersUseNoMoreThanTheirHalf) {
  const uint32_t one = pin(1), two = pin(2), three = pin(3);
  EXPECT_TRUE(table_.use(one));
  EXPECT_TRUE(table_.use(one));
  EXPECT_TRUE(table_.use(two));
  EXPECT_FALSE(table_.use(three));
  table_.done(one);
  EXPECT_FALSE(table_.use(three));
  table_.done(one);
  EXPECT_TRUE(table_.use(three));
}

/// Against a shadow that knows who has what; generations advance now and then.
TEST(OwnerTable, RandomOperationsNeverLoseABucketThatSomebodyHas) {
  struct Held {
    uint32_t index;
    uint64_t number;
    uint32_t generation;
    Rank peer;  // 0: an own transfer
  };
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    OwnerTable table;
    const Shares shares{16, 3, 9, 4};
    table.open(shares, 4);
    std::vector<Held> held;
    std::multiset<std::pair<uint64_t, uint32_t>> pinned;  // number, generation
    uint32_t generation = 0;
    for (uint32_t step = 0; step < 20'000; ++step) {
      if (random.below(100) == 0) ++generation;
      if (!held.empty() && random.below(2) == 0) {
        const size_t which = random.below(held.size());
        const Held one = held[which];
        ASSERT_EQ(table.at(one.index).number, one.number) << "seed " << seed << " step " << step;
        ASSERT_EQ(table.at(one.index).generation, one.generation);
        if (one.peer == 0) {
          table.done(one.index);
        } else {
          ASSERT_TRUE(table.let_go(one.index, one.peer));
        }
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
        continue;
      }
      const Rank peer = static_cast<Rank>(random.below(4));
      const uint64_t number = random.below(30);
      uint32_t index = table.find(number, generation);
      ASSERT_EQ(index != OwnerTable::kNone, pinned.count({number, generation}) != 0);
      if (peer == 0 ? !table.may_use_another() : table.held_by(peer) == shares.buckets_per_peer) {
        continue;
      }
      if (index == OwnerTable::kNone) {
        const auto victim = table.make_room();
        if (victim.is_any) {
          const auto gone = pinned.find({victim.region.base >> 16, victim.region.remote_key - 1});
          ASSERT_NE(gone, pinned.end()) << "seed " << seed << " step " << step;
          for (const Held& one : held) {
            ASSERT_FALSE(one.number == gone->first && one.generation == gone->second);
          }
          pinned.erase(gone);
        }
        index = table.add(number, region_of(number, generation), generation);
        pinned.insert({number, generation});
      }
      ASSERT_TRUE(peer == 0 ? table.use(index) : table.hold(index, peer));
      held.push_back({index, number, generation, peer});
      ASSERT_EQ(table.pinned(), pinned.size());
      ASSERT_LE(table.pinned(), shares.buckets_of_peers + shares.buckets_own);
    }
  }
}

}  // namespace
}  // namespace pinwire
