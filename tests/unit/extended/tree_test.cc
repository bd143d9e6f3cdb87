// The binomial tree of collectives: every size, root and member; and the order of reductions.
#include "extended/coll/tree.h"

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

}  // namespace
}  // namespace pinwire
