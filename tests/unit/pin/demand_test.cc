#include "pin/demand.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/unit/pin/pin_book.h"

namespace pinwire {
namespace {

class Statistics : public StatSink {
 public:
  explicit Statistics(const Demand& demand) { demand.stats(*this); }
  void stat(const char* name, uint64_t value) noexcept override {
    EXPECT_TRUE(values_.emplace(name, value).second) << name << " twice";
  }
  uint64_t operator[](const std::string& name) const {
    const auto at = values_.find(name);
    EXPECT_NE(at, values_.end()) << name;
    return at == values_.end() ? 0 : at->second;
  }

 private:
  std::map<std::string, uint64_t> values_;
};

class DemandTest : public testing::Test {
 protected:
  static constexpr uint64_t kBucketBytes = 64 << 10;

  DemandTest() {
    demand_.own.open(driver_, {16, 2, 2, 2, 3 * kBucketBytes}, 2, kBase, 16 * kBucketBytes);
    const RemoteCache::Grant grants[] = {{}, {16, 1}};
    demand_.cache.open(grants);
  }
  void use(uint64_t bucket) {
    const auto used = demand_.own.use(pointer(bucket), true);
    ASSERT_NE(used.index, Buckets::kNone);
    demand_.own.done(used.index);
  }
  static void* pointer(uint64_t bucket) {
    return reinterpret_cast<void*>(kBase + bucket * kBucketBytes);
  }
  /// Asked for, granted, and put back.
  void visit_peer(uint64_t number) {
    const uint32_t known = demand_.cache.take(1, number);
    if (known != RemoteCache::kNone) return demand_.put_back(known);
    const auto want = demand_.cache.ask(1, number);
    ASSERT_NE(want.index, RemoteCache::kNone);
    ASSERT_TRUE(demand_.cache.grant(1, want.index, {.owners_index = 7, .key = 8, .to = 1}));
    demand_.put_back(want.index);
  }

  static constexpr uint64_t kBase = uint64_t{1} << 32;
  test::PinBook driver_;
  Demand demand_;
};

TEST_F(DemandTest, TheStatisticsTellOfOwnMemory) {
  for (const uint64_t bucket : {0, 1, 2, 3, 4, 4, 4}) use(bucket);
  const auto alone = demand_.own.pin_alone(pointer(8), 100);
  EXPECT_NE(alone.region.bytes, 0u);
  demand_.own.unpin_alone(alone);
  driver_.refusals = 3;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(demand_.own.pin_alone(pointer(8), 1).region.bytes, 0u);
  for (int i = 0; i < 9; ++i) demand_.own.count_bounce();
  const Statistics told(demand_);
  EXPECT_EQ(told["pin_pins"], 6u);
  EXPECT_EQ(told["pin_unpins"], 2u);
  EXPECT_EQ(told["pin_refusals"], 3u);
  EXPECT_EQ(told["pin_local_hits"], 2u);
  EXPECT_EQ(told["pin_local_misses"], 5u);
  EXPECT_EQ(told["pin_bounces"], 9u);
  EXPECT_EQ(told["pin_demand_bytes"], 4 * kBucketBytes);
  EXPECT_EQ(told["pin_demand_bytes_max"], 4 * kBucketBytes + 100);
}

TEST_F(DemandTest, TheStatisticsTellOfPeersMemory) {
  for (const uint64_t number : {1, 2, 3, 3, 3, 3, 3}) visit_peer(number);
  const Statistics told(demand_);
  EXPECT_EQ(told["pin_remote_hits"], 4u);
  EXPECT_EQ(told["pin_remote_misses"], 3u);
  EXPECT_EQ(told["pin_remote_evictions"], 2u);
}

TEST_F(DemandTest, WithoutAWatchNothingIsKept) {
  const auto alone = demand_.own.pin_alone(pointer(8), 100);
  demand_.own.unpin_alone(alone);
  const Statistics told(demand_);
  for (const char* name :
       {"pin_kept_hits", "pin_kept_misses", "pin_kept_stale", "pin_kept_evictions",
        "pin_kept_bytes", "pin_kept_bytes_max", "pin_kept_unsettled", "pin_kept_unwatchable"}) {
    EXPECT_EQ(told[name], 0u) << name;
  }
}

}  // namespace
}  // namespace pinwire
