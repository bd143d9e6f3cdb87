#include "nicfw/pool_share.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/base/random.h"
#include "nicfw/lane.h"

namespace pinwire {
namespace {

struct Pool {
  const char* name;
  PoolReserve reserve;
  uint32_t items;
  uint32_t holders;
  uint32_t wanted_max;
  uint32_t flows_per_reply = 3;
};
void PrintTo(const Pool& pool, std::ostream* out) { *out << pool.name; }

/// As the lane makes them; with more holders than have items of their own, too.
std::vector<Pool> pools() {
  constexpr uint32_t kWindow = 64;
  const PoolReserve responses{.holders = 256, .own = kAsksPerFrameMax};
  const PoolReserve slots{
      .holders = 300, .own = 2, .replies = kWindow, .whole = copied_frames(kWindow)};
  const PoolReserve buffers = buffer_reserve(4 * kWindow, 300);
  return {
      {"responses", responses, 8 * kWindow + responses.items(), 250, kAsksPerFrameMax},
      {"responses_of_many", responses, 8 * kWindow + responses.items(), 300, kAsksPerFrameMax},
      {"slots", slots, 4 * kWindow + slots.items(), 300, 8},
      {"slots_of_many", slots, 4 * kWindow + slots.items(), 330, 8},
      {"buffers_of_many", buffers, frame_buffers(4 * kWindow, 300), 900, 8},
      {"buffers_of_many_replies", buffers, frame_buffers(4 * kWindow, 300), 900, 8, 1},
  };
}

class Shares : public testing::TestWithParam<Pool> {};

TEST_P(Shares, WhatIsAllowedIsThereAndOwnItemsAreNobodyElses) {
  constexpr uint32_t kSteps = 1'000'000;
  const Pool& pool = GetParam();
  Random random(1);
  PoolShare share(pool.reserve);
  uint32_t available = pool.items, whole_taken = 0;
  std::vector<uint32_t> held(pool.holders);
  for (uint32_t step = 0; step < kSteps; ++step) {
    const uint64_t holder = random.below(pool.holders);
    const bool is_reply = holder % pool.flows_per_reply == 0;
    if (random.chance(0.2) && held[holder] > 0) {
      share.gave(--held[holder], is_reply);
      ++available;
      continue;
    }
    if (pool.holders <= pool.reserve.holders && held[holder] < pool.reserve.own) {
      ASSERT_TRUE(share.allows(held[holder], 1, available, is_reply)) << step;
    }
    const auto wanted = 1 + static_cast<uint32_t>(random.below(pool.wanted_max));
    const bool is_allowed = share.allows(held[holder], wanted, available, is_reply);
    const bool is_whole = share.allows_whole(held[holder], wanted, available, is_reply);
    if (!is_allowed && !is_whole) continue;
    whole_taken += !is_allowed;
    ASSERT_LE(wanted, available) << "step " << step << ", of " << held[holder] << " held";
    for (uint32_t i = 0; i < wanted; ++i, --available) share.took(held[holder]++, is_reply);
  }
  if (pool.reserve.whole != 0) {
    EXPECT_GT(whole_taken, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Shares, testing::ValuesIn(pools()),
                         [](const auto& pool) { return std::string(pool.param.name); });

}  // namespace
}  // namespace pinwire
