#include "pin/owner_table.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/base/random.h"

namespace pinwire {
namespace {

Region region_of(uint64_t number) {
  const auto key = static_cast<uint32_t>(number) + 1;
  return {number << 16, 1 << 16, key, key};
}

class Table : public testing::Test {
 protected:
  Table() { table_.open({16, 2, 4, 2}, 3); }  // six buckets: two for each of ranks 1 and 2, two own
  uint32_t pin(uint64_t number) {
    const auto victim = table_.make_room();
    if (victim.is_any) unpinned_.push_back(victim.region.base >> 16);
    return table_.add(number, region_of(number));
  }
  OwnerTable table_;
  std::vector<uint64_t> unpinned_;
};

TEST_F(Table, IdleBucketsStayUntilTheirRoomIsNeededThenTheLongestIdleGoes) {
  for (uint64_t number = 10; number < 16; ++number) pin(number);
  EXPECT_TRUE(unpinned_.empty());
  const uint32_t first = table_.find(10);
  ASSERT_TRUE(table_.use(first));
  table_.done(first);  // now the one used last
  pin(20);
  pin(21);
  EXPECT_EQ(unpinned_, (std::vector<uint64_t>{11, 12}));
  EXPECT_NE(table_.find(10), OwnerTable::kNone);
  EXPECT_EQ(table_.find(11), OwnerTable::kNone);
}

TEST_F(Table, APeerHoldsNoMoreThanItsShare) {
  EXPECT_TRUE(table_.hold(pin(1), 1));
  EXPECT_TRUE(table_.hold(pin(2), 1));
  const uint32_t third = pin(3);
  EXPECT_FALSE(table_.hold(third, 1));
  EXPECT_TRUE(table_.hold(third, 2));
  EXPECT_TRUE(table_.let_go(table_.find(1), 1));
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

/// Against a shadow that knows who has what.
TEST(OwnerTable, RandomOperationsNeverLoseABucketThatSomebodyHas) {
  struct Held {
    uint32_t index;
    uint64_t number;
    Rank peer;  // 0: an own transfer
  };
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    Random random(seed);
    OwnerTable table;
    const Shares shares{16, 3, 9, 4};
    table.open(shares, 4);
    std::vector<Held> held;
    std::set<uint64_t> pinned;  // numbers
    for (uint32_t step = 0; step < 20'000; ++step) {
      if (!held.empty() && random.below(2) == 0) {
        const size_t which = random.below(held.size());
        const Held one = held[which];
        ASSERT_EQ(table.at(one.index).number, one.number) << "seed " << seed << " step " << step;
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
      uint32_t index = table.find(number);
      ASSERT_EQ(index != OwnerTable::kNone, pinned.contains(number));
      if (peer == 0 ? !table.may_use_another() : table.held_by(peer) == shares.buckets_per_peer) {
        continue;
      }
      if (index == OwnerTable::kNone) {
        const auto victim = table.make_room();
        if (victim.is_any) {
          const auto gone = pinned.find(victim.region.base >> 16);
          ASSERT_NE(gone, pinned.end()) << "seed " << seed << " step " << step;
          for (const Held& one : held) {
            ASSERT_NE(one.number, *gone);
          }
          pinned.erase(gone);
        }
        index = table.add(number, region_of(number));
        pinned.insert(number);
      }
      ASSERT_TRUE(peer == 0 ? table.use(index) : table.hold(index, peer));
      held.push_back({index, number, peer});
      ASSERT_EQ(table.pinned(), pinned.size());
      ASSERT_LE(table.pinned(), shares.buckets_of_peers + shares.buckets_own);
    }
  }
}

}  // namespace
}  // namespace pinwire
