// The binomial tree of collectives: every size, root and member; the order of reductions; and the
// chain.
#include "extended/coll/algorithms/tree.h"

#include <gtest/gtest.h>

#include <vector>

namespace pinwire {
namespace {

TEST(Tree, HasEveryMemberOnceBelowItsRoot_GX145) {
  for (Rank size = 1; size <= 70; ++size) {
    for (Rank root = 0; root<size; root += size> 20 ? 7 : 1) {
      std::vector<int> parents(size, 0);
      for (Rank rank = 0; rank < size; ++rank) {
        const Tree tree(size, root, rank);
        EXPECT_EQ(tree.is_root(), rank == root);
        EXPECT_EQ(tree.rank_at(tree.place()), rank);
        for (uint32_t branch = 0; branch < tree.branches(); ++branch) {
          const Tree child(size, root, tree.child(branch));
          ++parents[tree.child(branch)];
          EXPECT_EQ(child.parent(), rank);
          EXPECT_EQ(child.branch(), branch);
          EXPECT_EQ(child.places(), tree.places_of_child(branch));
          EXPECT_EQ(child.place(), tree.place() + (1u << branch));
        }
      }
      for (Rank rank = 0; rank < size; ++rank) {
        EXPECT_EQ(parents[rank], rank == root ? 0 : 1) << size << " " << root << " " << rank;
      }
    }
  }
}

TEST(Tree, PlacesBelowOneAreARange) {
  for (Rank size = 1; size <= 70; ++size) {
    for (Rank place = 0; place < size; ++place) {
      const Tree tree(size, 0, place);
      uint32_t covered = 1;
      for (uint32_t branch = 0; branch < tree.branches(); ++branch) {
        // Children come in order, each behind all that is below the one before.
        EXPECT_EQ(tree.child(branch), place + covered);
        covered += tree.places_of_child(branch);
      }
      EXPECT_EQ(covered, tree.places());
    }
  }
}

TEST(Neighbours, AreAChainInTheOrderOfRanksFromTheRootOn) {
  for (Rank size = 1; size <= 9; ++size) {
    for (Rank root = 0; root < size; ++root) {
      for (Rank place = 0; place < size; ++place) {
        const Neighbours neighbours(Tree(size, root, (root + place) % size), size, true);
        EXPECT_EQ(neighbours.is_root(), place == 0);
        EXPECT_EQ(neighbours.branch(), 0u);
        if (place != 0) {
          EXPECT_EQ(neighbours.parent(), (root + place - 1) % size);
        }
        ASSERT_EQ(neighbours.branches(), place + 1 < size ? 1u : 0u);
        if (neighbours.branches() != 0) {
          EXPECT_EQ(neighbours.child(0), (root + place + 1) % size);
        }
      }
    }
  }
}

TEST(Neighbours, AreTheTreeElse) {
  for (Rank rank = 0; rank < 13; ++rank) {
    const Tree tree(13, 5, rank);
    const Neighbours neighbours(tree, 13, false);
    ASSERT_EQ(neighbours.branches(), tree.branches());
    for (uint32_t b = 0; b < tree.branches(); ++b) EXPECT_EQ(neighbours.child(b), tree.child(b));
    if (tree.is_root()) continue;
    EXPECT_EQ(neighbours.parent(), tree.parent());
    EXPECT_EQ(neighbours.branch(), tree.branch());
  }
}

TEST(Neighbours, AChainIsForManyPiecesAndFewMembers) {
  for (Rank size = 1; size <= 4; ++size) EXPECT_TRUE(Neighbours::is_chain_shorter(size, 2)) << size;
  EXPECT_TRUE(Neighbours::is_chain_shorter(6, 2));
  EXPECT_FALSE(Neighbours::is_chain_shorter(7, 2));
  EXPECT_TRUE(Neighbours::is_chain_shorter(1000, 111));
  EXPECT_FALSE(Neighbours::is_chain_shorter(1000, 110));
  EXPECT_TRUE(Neighbours::is_chain_shorter(1u << 24, ~0u));
}

}  // namespace
}  // namespace pinwire
