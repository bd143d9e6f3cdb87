#include "driver/verbs/peer/queue_sizes.h"

#include <gtest/gtest.h>

#include "tests/unit/driver/verbs/two_hosts.h"

namespace pinwire {
namespace {

using verbs::mlx5_send_queue_bytes;
using verbs::queue_sizes_for;

TEST(QueueSizes, AsLibmlx5LaysThemOut) {
  EXPECT_EQ(mlx5_send_queue_bytes({256, 256}), 128u << 10);
  EXPECT_EQ(mlx5_send_queue_bytes({64, 256}), 32u << 10);
  EXPECT_EQ(mlx5_send_queue_bytes({32, 60}), 8u << 10);
  EXPECT_EQ(mlx5_send_queue_bytes({32, 61}), 16u << 10);
  EXPECT_EQ(mlx5_send_queue_bytes({32, 0}), 8u << 10);
}

TEST(QueueSizes, APeerOfManyCostsSixteenKibibytesOnALane) {
  constexpr uint32_t kDepthOfDefault = 256;
  for (const Rank ranks : {65u, 4096u, 100'000u}) {
    EXPECT_LE(2 * mlx5_send_queue_bytes(queue_sizes_for(ranks, kDepthOfDefault)), 16u << 10);
  }
  for (const Rank ranks : {2u, 64u}) {
    EXPECT_LE(2 * mlx5_send_queue_bytes(queue_sizes_for(ranks, kDepthOfDefault)), 64u << 10);
    EXPECT_GE(queue_sizes_for(ranks, kDepthOfDefault).inline_bytes, 256u);
  }
}

class QueueSizesOf : public TwoHosts {
 protected:
  uint64_t bytes_of_peer(Rank ranks) {
    auto made = make_verbs_driver(options_of(0));
    EXPECT_TRUE(made.ok());
    drivers_[0] = std::move(*made);
    EXPECT_TRUE(at(0).open({.rank = 0, .rank_count = ranks, .network_depth = 256}).ok());
    return stat(0, "met_peer_send_queue_bytes");
  }
};

TEST_F(QueueSizesOf, AreWhatTheDriverAsksFor) {
  EXPECT_EQ(bytes_of_peer(64), 64u << 10);
  EXPECT_EQ(bytes_of_peer(65), 16u << 10);
}

}  // namespace
}  // namespace pinwire
