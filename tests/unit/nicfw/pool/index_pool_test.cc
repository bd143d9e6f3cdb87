#include "nicfw/pool/index_pool.h"

#include <gtest/gtest.h>

#include <set>

namespace pinwire {
namespace {

struct Item {
  int value = 0;
  Index link = kNoIndex;
};

TEST(IndexPool, HandsOutEachOnceAndKeepsAReserve) {
  IndexPool<Item> pool;
  pool.make(10);
  std::set<Index> taken;
  for (int i = 0; i < 7; ++i) EXPECT_TRUE(taken.insert(pool.take(3)).second);
  EXPECT_EQ(pool.take(3), kNoIndex);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(taken.insert(pool.take()).second);
  EXPECT_EQ(pool.take(), kNoIndex);
  EXPECT_FALSE(taken.contains(kNoIndex));
  EXPECT_EQ(pool.used_high_water(), 10u);
  for (const Index index : taken) pool.give(index);
  EXPECT_EQ(pool.available(), 10u);
  EXPECT_EQ(pool.used_high_water(), 10u);
}

TEST(IndexList, IsFirstInFirstOut) {
  IndexPool<Item> pool;
  pool.make(5);
  IndexList list;
  for (Index i = 0; i < 5; ++i) list.push(pool, i);
  for (Index i = 0; i < 5; ++i) EXPECT_EQ(list.pop(pool), i);
  EXPECT_TRUE(list.empty());
  list.push(pool, 3);
  EXPECT_EQ(list.pop(pool), 3);
  EXPECT_TRUE(list.empty());
}

}  // namespace
}  // namespace pinwire
