// The state that a rank keeps for an idle peer, over all layers: at most 640 bytes. The design's
// 512 bytes (section 8) held until nicfw numbered every frame against replays and backed its
// credit; the timers and counts of a flow in nicfw/flow/peer.h are only used while it has a window,
// and could move there. Tables of plain structs count by their size; drivers by what they allocate
// for more ranks.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>

#include "core/api_types.h"
#include "core/engine/engine.h"
#include "driver/shm/lines.h"
#include "extended/state/job.h"
#include "nicfw/nic.h"
#include "tests/support/count_allocations.h"
#include "tests/support/loop_port.h"

namespace pinwire {
namespace {

constexpr uint64_t kPeerBytesMax = 640;
/// core/engine and core/api, by rank; the barrier's pointer to a rank's line, and who is beside it;
/// what init exchanged.
constexpr uint64_t kTableBytes = sizeof(Route) + sizeof(struct pinwire_reach) +
                                 sizeof(shm::BarrierLine*) + sizeof(Rank) + sizeof(RankFacts) +
                                 sizeof(RankPlace);
/// The lines of a rank of this host, whatever reaches it.
constexpr uint64_t kBesideBytes = sizeof(shm::Lines);

/// Bytes that `make` allocates for each rank more, far above the sizes of its pools.
uint64_t bytes_per_rank(const std::function<void(uint32_t ranks)>& make) {
  const auto bytes_for = [&](uint32_t ranks) {
    const uint64_t before = allocated_bytes.load();
    make(ranks);
    return allocated_bytes.load() - before;
  };
  return (bytes_for(4096) - bytes_for(2048)) / 2048;
}

uint64_t nicfw_bytes() {
  return bytes_per_rank([](uint32_t ranks) {
    ManualClock clock;
    LoopPort port(1, 1514, 64);
    EXPECT_TRUE(make_nic(port, clock, {})->open({.rank = 0, .rank_count = ranks}).ok());
  });
}
uint64_t shm_bytes() {
  return bytes_per_rank([](uint32_t ranks) {
    EXPECT_TRUE(make_shm_driver(64)->open({.rank = 0, .rank_count = ranks}).ok());
  });
}
/// A connected peer's rings.
uint64_t shm_connected_bytes() {
  const auto peer = make_shm_driver(64);
  const auto own = make_shm_driver(64);
  EXPECT_TRUE(peer->open({.rank = 1, .rank_count = 4}).ok());
  EXPECT_TRUE(own->open({.rank = 0, .rank_count = 4}).ok());
  const auto address = peer->address();
  const uint64_t before = allocated_bytes.load();
  EXPECT_TRUE(own->connect(1, address).ok());
  return allocated_bytes.load() - before;
}

TEST(PeerState, AnIdlePeerCostsAtMost640BytesOverAllLayers) {
  const uint64_t nicfw = nicfw_bytes(), shm = shm_bytes(), rings = shm_connected_bytes();
  std::printf("a peer: tables %llu, nicfw %llu, shm %llu and %llu once connected\n",
              static_cast<unsigned long long>(kTableBytes), static_cast<unsigned long long>(nicfw),
              static_cast<unsigned long long>(shm), static_cast<unsigned long long>(rings));
  EXPECT_LE(kTableBytes + kBesideBytes + nicfw, kPeerBytesMax) << "a job over the network";
  EXPECT_LE(kTableBytes + kBesideBytes + shm + rings, kPeerBytesMax) << "a job inside one host";
  EXPECT_LE(kTableBytes + shm + nicfw, kPeerBytesMax) << "a far peer in a job of several hosts";
}

}  // namespace
}  // namespace pinwire
