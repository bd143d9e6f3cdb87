// Which device each rank takes, on made-up machines: near is 10, far 21.
#include "core/topo/nearest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace pinwire {
namespace {

using Taken = std::vector<uint32_t>;
using Ranks = std::vector<DeviceDistances>;

uint64_t sum_of(const Ranks& ranks, const Taken& taken) {
  uint64_t sum = 0;
  for (size_t rank = 0; rank < ranks.size(); ++rank) sum += ranks[rank][taken[rank]];
  return sum;
}

TEST(Nearest, AmongEqualsByTurns) {
  EXPECT_EQ(share_devices({{10}}), Taken{0});
  EXPECT_EQ(share_devices({{10, 10, 10}, {10, 10, 10}, {10, 10, 10}}), (Taken{0, 1, 2}));
  EXPECT_EQ(share_devices({{20, 20}, {20, 20}}), (Taken{0, 1})) << "nothing is known";
}

TEST(Nearest, TheDeviceOfItsOwnSocket) {
  EXPECT_EQ(share_devices({{21, 10}, {10, 21}}), (Taken{1, 0}));
  // Two ranks and two devices on each socket; listed the other way round.
  const DeviceDistances first = {21, 21, 10, 10}, second = {10, 10, 21, 21};
  EXPECT_EQ(share_devices({first, first, second, second}), (Taken{2, 3, 0, 1}));
}

TEST(Nearest, AFreeDeviceIsTakenIfItIsNearer) {
  EXPECT_EQ(share_devices({{21, 21, 10}}), Taken{2});
  EXPECT_EQ(share_devices({{10, 21, 10}, {10, 21, 10}}), (Taken{0, 2}));
}

TEST(Nearest, ARankThatGainsNothingMakesRoom) {
  // The first may run on both sockets, the second on that of device 0 alone.
  EXPECT_EQ(share_devices({{15, 15}, {10, 21}}), (Taken{1, 0}));
  // Both want device 0; for the second the other one is less far.
  EXPECT_EQ(share_devices({{10, 40}, {10, 11}}), (Taken{0, 1}));
  EXPECT_EQ(share_devices({{10, 11}, {10, 40}}), (Taken{1, 0}));
}

TEST(Nearest, TooFewDevicesAreTakenByTurns) {
  EXPECT_EQ(share_devices({{21, 10}, {21, 10}, {21, 10}}), (Taken{0, 1, 0}));
}

/// On machines of 4 sockets with ranks bound to one each, no other assignment is nearer in sum.
TEST(Nearest, NoAssignmentIsNearerOnMachinesOfSockets) {
  std::mt19937 random(7);
  for (int machine = 0; machine < 300; ++machine) {
    const size_t devices = 2 + random() % 5, rank_count = 1 + random() % devices;
    std::vector<uint32_t> sockets(devices);
    for (uint32_t& socket : sockets) socket = random() % 4;
    Ranks ranks(rank_count);
    for (DeviceDistances& rank : ranks) {
      const uint32_t own = random() % 4;
      for (const uint32_t socket : sockets) rank.push_back(socket == own ? 10 : 21);
    }
    const Taken taken = share_devices(ranks);
    EXPECT_EQ(std::set<uint32_t>(taken.begin(), taken.end()).size(), rank_count) << "shared";
    Taken any(devices);
    std::iota(any.begin(), any.end(), 0);
    uint64_t least = ~uint64_t{0};
    do {
      least = std::min(least, sum_of(ranks, any));
    } while (std::next_permutation(any.begin(), any.end()));
    EXPECT_EQ(sum_of(ranks, taken), least) << "machine " << machine;
  }
}

TEST(NearShare, AloneItTakesAllOfTheNearest) {
  EXPECT_EQ(near_share({10, 21, 10, 10}, 0, 1), (Taken{0, 2, 3}));
  EXPECT_EQ(near_share({20, 20}, 0, 1), (Taken{0, 1})) << "nothing is known";
}

TEST(NearShare, RanksOfTheSameCoresDivideThem) {
  EXPECT_EQ(near_share({10, 10, 10, 10, 21}, 0, 2), (Taken{0, 1}));
  EXPECT_EQ(near_share({10, 10, 10, 10, 21}, 1, 2), (Taken{2, 3}));
  EXPECT_EQ(near_share({10, 10, 10, 10, 10}, 1, 2), (Taken{2, 3})) << "alike for all";
}

TEST(NearShare, NoneWhereThereIsAtMostOneForEach) {
  EXPECT_TRUE(near_share({10}, 0, 1).empty());
  EXPECT_TRUE(near_share({10, 21, 21}, 0, 1).empty());
  EXPECT_TRUE(near_share({10, 10, 10}, 2, 3).empty());
}

}  // namespace
}  // namespace pinwire
