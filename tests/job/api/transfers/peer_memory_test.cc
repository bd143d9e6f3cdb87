// An idle peer costs a rank at most 512 bytes, measured: the heap of a rank after attach in
// jobs of different size, whose collectives have as many rounds: what they keep grows with the
// logarithm of the team's size. Memory that was freed and malloc keeps for the same
// thread (tcache) would count as held.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/job/launch/run.h"

using namespace pinwire_test;

namespace {

constexpr double kPeerBytesMax = 512;

/// Heap of rank 0; negative when the job failed.
double heap_bytes(int ranks) {
  const Outcome outcome = run(
      {std::getenv("GASNETRUN"), "-n", std::to_string(ranks), std::getenv("PEER_MEMORY")},
      {"GASNET_DRIVER=shm", "GASNET_MAX_SEGSIZE=1M", "GLIBC_TUNABLES=glibc.malloc.tcache_count=0"});
  unsigned told = 0;
  unsigned long heap = 0, mapped = 0;
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const size_t at = outcome.out.find("ranks ");
  EXPECT_NE(at, std::string::npos) << outcome.out;
  if (at == std::string::npos ||
      std::sscanf(outcome.out.c_str() + at, "ranks %u heap %lu mapped %lu", &told, &heap,
                  &mapped) != 3)
    return -1;
  EXPECT_EQ(told, static_cast<unsigned>(ranks));
  return static_cast<double>(heap + mapped);
}

TEST(PeerMemory, AnIdlePeerOfAJobCostsAtMost512Bytes) {
  const double few = heap_bytes(5), many = heap_bytes(8);
  ASSERT_GT(few, 0);
  ASSERT_GT(many, 0);
  const double slope = (many - few) / 3;
  std::printf("heap of rank 0: %.0f bytes with 5 ranks, %.0f with 8: %.0f a peer\n", few, many,
              slope);
  EXPECT_GT(slope, 0) << "a peer costs something";
  EXPECT_LE(slope, kPeerBytesMax);
}

}  // namespace
