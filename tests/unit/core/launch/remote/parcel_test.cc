#include "core/launch/remote/parcel.h"

#include <gtest/gtest.h>

namespace pinwire::launch {
namespace {

RemotePlan plan() {
  return {.first = 3,
          .count = 2,
          .rank_count = 7,
          .cpus_per_rank = 4,
          .keep_files = true,
          .no_aslr = false,
          .has_input = true,
          .silence_limit_ms = 1500,
          .host_name = "n 0",
          .folder = "/a folder",
          .command = {"true", ""},
          .environment = {"A=b"}};
}

TEST(Parcel, APlanArrivesWhole) {
  auto arrived = unpack_plan(pack_plan(plan()));
  ASSERT_TRUE(arrived.ok());
  EXPECT_EQ(pack_plan(*arrived), pack_plan(plan()));
  EXPECT_EQ(arrived->silence_limit_ms, 1500);
  EXPECT_EQ(arrived->command, plan().command);
  EXPECT_EQ(arrived->environment, plan().environment);
}

TEST(Parcel, ASilenceThatNobodyMayAskForIsRefused) {
  for (const int64_t limit_ms : {int64_t{-1}, int64_t{86'400'001}, INT64_MAX}) {
    auto bad = plan();
    bad.silence_limit_ms = limit_ms;
    EXPECT_FALSE(unpack_plan(pack_plan(bad)).ok()) << limit_ms;
  }
}

}  // namespace
}  // namespace pinwire::launch
