// The limits of segments, from what the ranks tell of their hosts.
#include "extended/segments/limits.h"

#include <gtest/gtest.h>

#include "core/engine/engine.h"
#include "extended/state/job.h"

namespace pinwire {
namespace {

constexpr uint64_t kMiB = 1 << 20;

/// The limits of rank `rank` among ranks on hosts of their own that have so much free.
std::pair<uint64_t, uint64_t> limits_of(Rank rank, const std::vector<uint64_t>& free) {
  Job job;
  std::vector<RankTold> told;
  job.settings.driver = DriverChoice::kShm;
  job.settings.max_segment = {.bytes = 1024 * kMiB};
  for (const uint64_t bytes : free) {
    const auto host = static_cast<uint16_t>(told.size());
    RankTold& one = told.emplace_back();
    one.facts.host = host;
    one.segment_limit = bytes;
    one.locked_limit = kUnlimited;
    job.ranks.push_back(one.facts);
    job.places.push_back({host, host});
  }
  engine.rank = rank;
  EXPECT_TRUE(set_segment_limits(job, told).ok());
  engine.rank = 0;
  return {job.segment_limit_local, job.segment_limit_global};
}

TEST(SegmentLimits, TheGlobalOneIsTheLeastOfAllRanks_C1_094) {
  const std::vector<uint64_t> free = {8 * kMiB, 3 * kMiB, 5 * kMiB};
  for (Rank rank = 0; rank < free.size(); ++rank) {
    EXPECT_EQ(limits_of(rank, free), std::pair(free[rank], 3 * kMiB)) << rank;
  }
}

TEST(SegmentLimits, TheLocalOneIsWholePagesAndOneAtLeast_C1_093) {
  EXPECT_EQ(limits_of(0, {3 * 4096 + 100}).first, 3u * 4096);
  EXPECT_EQ(limits_of(0, {100}).first, 4096u);
}

}  // namespace
}  // namespace pinwire
