#include "driver/verbs/receive/senders.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace pinwire::verbs {
namespace {

TEST(Senders, KnowsEveryQueuePairAndNoOther) {
  std::mt19937 random(1);
  for (const uint32_t count : {1u, 2u, 7u, 1000u}) {
    std::map<uint32_t, Rank> shadow;
    Senders senders;
    senders.open(count);
    while (shadow.size() < count) {
      const uint32_t queue_pair = random() & 0xffffff;
      const auto rank = static_cast<Rank>(shadow.size());
      if (shadow.emplace(queue_pair, rank).second) senders.add(queue_pair, rank);
    }
    for (const auto& [queue_pair, rank] : shadow) EXPECT_EQ(senders.rank_of(queue_pair), rank);
    for (uint32_t i = 0; i < 1000; ++i) {
      const uint32_t queue_pair = random() & 0xffffff;
      if (!shadow.contains(queue_pair)) {
        EXPECT_GE(senders.rank_of(queue_pair), count);
      }
    }
  }
}

}  // namespace
}  // namespace pinwire::verbs
