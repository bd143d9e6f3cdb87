#include "pin/shares.h"

#include <gtest/gtest.h>

namespace pinwire {
namespace {

TEST(Shares, NeverExceedTheBudget) {
  for (const uint64_t budget : {0ull, 100ull, 64ull << 10, 1ull << 20, 3ull << 20, 1ull << 30,
                                123'456'789ull, 1ull << 40}) {
    for (const uint32_t peers : {0u, 1u, 3u, 16u, 1000u, 65'535u}) {
      const Shares shares = divide_budget(budget, peers);
      const uint64_t buckets = shares.buckets_of_peers + shares.buckets_own;
      EXPECT_LE(buckets * shares.bucket_bytes() + shares.alone_bytes, budget);
      EXPECT_EQ(shares.buckets_of_peers, shares.buckets_per_peer * peers);
      EXPECT_GE(shares.bucket_bytes(), kBucketBytesMin);
      EXPECT_LE(shares.bucket_bytes(), kBucketBytesMax);
    }
  }
}

TEST(Shares, LargeBudgetsHaveLargeBuckets) {
  EXPECT_EQ(divide_budget(1ull << 30, 1).bucket_bytes(), kBucketBytesMax);
  EXPECT_EQ(divide_budget(1ull << 20, 1).bucket_bytes(), kBucketBytesMin);
  EXPECT_EQ(divide_budget(1ull << 20, 1).buckets_per_peer, 8u);
}

TEST(Shares, AHalfIsForPeersAQuarterForOwnTransfersAndAQuarterForSingleOnes) {
  const Shares shares = divide_budget(1ull << 30, 4);
  EXPECT_EQ(shares.buckets_of_peers * shares.bucket_bytes(), 1ull << 29);
  EXPECT_EQ(shares.buckets_own * shares.bucket_bytes(), 1ull << 28);
  EXPECT_EQ(shares.alone_bytes, 1ull << 28);
}

TEST(Shares, BucketsGrowOnceAPeerHasManyOfTheSmallest) {
  for (uint64_t budget = 1ull << 20; budget <= 1ull << 30; budget *= 2) {
    for (const uint32_t peers : {1u, 3u, 16u}) {
      const Shares shares = divide_budget(budget, peers);
      if (shares.bucket_bytes() == kBucketBytesMin) {
        EXPECT_LT(shares.buckets_per_peer, 2 * kBucketsPerPeerWanted) << budget << " " << peers;
      } else {
        EXPECT_GE(shares.buckets_per_peer, kBucketsPerPeerWanted) << budget << " " << peers;
      }
    }
  }
}

TEST(Shares, WithoutPeersAllOfItIsForSingleTransfers) {
  EXPECT_EQ(divide_budget(1000, 0).alone_bytes, 1000u);
  EXPECT_EQ(divide_budget(1000, 0).buckets_own, 0u);
}

TEST(Shares, APeerForWhichNotOneBucketIsLeftGetsNone) {
  EXPECT_EQ(divide_budget(1ull << 20, 9).buckets_per_peer, 0u);
  EXPECT_EQ(divide_budget(0, 1).buckets_per_peer, 0u);
}

}  // namespace
}  // namespace pinwire
