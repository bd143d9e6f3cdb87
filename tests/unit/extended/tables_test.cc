// Teams' tables: who is in a colour, in which order, and who is found by a jobrank.
#include <gtest/gtest.h>

#include "extended/state/team_tables.h"

namespace pinwire {
namespace {

TEST(Tables, AColorIsOrderedByKeyThenByRank_GX069) {
  const std::vector<Choice> choices = {{1, 5}, {0, 2}, {1, -3}, {-1, 0}, {0, 2}, {1, 5}, {0, 1}};
  EXPECT_EQ(members_of(choices, 1), (std::vector<Rank>{2, 0, 5}));
  EXPECT_EQ(members_of(choices, 0), (std::vector<Rank>{6, 1, 4}));
  EXPECT_EQ(members_of(choices, 2), std::vector<Rank>{});
}

TEST(Tables, FindTheLowestRankOfAProcess_EX042) {
  TeamTables tables;
  tables.targets = {target_of(7, 1), target_of(3, 0), target_of(7, 0),
                    target_of(0, 2), target_of(3, 5), target_of(60000, 63)};
  tables.sort();
  Rank rank = 99;
  EXPECT_TRUE(tables.find(7, rank));
  EXPECT_EQ(rank, 0u);
  EXPECT_TRUE(tables.find(3, rank));
  EXPECT_EQ(rank, 1u);
  EXPECT_TRUE(tables.find(0, rank));
  EXPECT_EQ(rank, 3u);
  EXPECT_TRUE(tables.find(60000, rank));
  EXPECT_EQ(rank, 5u);
  for (const Rank absent : {1u, 4u, 59999u, 60001u}) EXPECT_FALSE(tables.find(absent, rank));
}

}  // namespace
}  // namespace pinwire
