// The data plane allocates nothing, and an idle peer costs little.
#include <gtest/gtest.h>

#include "nicfw/flow/peer.h"
#include "tests/support/count_allocations.h"
#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

TEST(NicAllocation, TheDataPlaneAllocatesNothing) {
  NicGroup group({});
  std::vector<uint8_t> source = byte_pattern(50'000);
  std::vector<uint8_t> target(source.size());
  std::vector<uint8_t> fetched(source.size());
  const Region region = group.pin(1, target.data(), target.size());
  group.set_faults({.loss = 0.05, .duplicate = 0.05, .reorder = 0.1});
  uint64_t old = 0;
  const AtomicOperands add{AtomicCode::kAdd, 1, 0};
  const uint64_t word = 1;
  const Work works[] = {
      send_work(1, MessageClass::kRequest, &word, 8),
      send_work(1, MessageClass::kReply, &word, 8),
      put_work(1, source.data(), source.size(), target.data(), region.remote_key),
      put_work(1, source.data(), 16, target.data(), region.remote_key),
      get_work(1, fetched.data(), fetched.size(), target.data(), region.remote_key),
      atomic_work(1, &add, &old, reinterpret_cast<void*>((region.base + 7) & ~uint64_t{7}),
                  region.remote_key)};
  const uint64_t before = allocations.load();
  uint64_t posted = 0;
  uint64_t moved = 0;
  for (int round = 0; round < 20'000; ++round) {
    posted += group.nic(0).post(0, {&works[posted % std::size(works)], 1});
    for (uint32_t r = 0; r < 2; ++r) {
      Recv out[16];
      const uint32_t count = group.nic(r).recv(0, RecvFilter::kAll, out);
      group.nic(r).give_back(0, std::span(out, count));
      Done done[16];
      moved += count + group.nic(r).done(0, done);
      group.nic(r).idle(0);
      group.nic(r).arm(0);
    }
    group.clock().advance(1'000);
  }
  EXPECT_EQ(allocations.load(), before);
  EXPECT_GT(moved, 1'000u);
}

TEST(NicAllocation, AnIdlePeerCostsAtMost512Bytes) {
  EXPECT_LE(sizeof(Peer), 512u);
  // Everything else is pooled: a NIC for many ranks differs from one for fewer by its peers, and a
  // word of the attention ring for each.
  const auto bytes_for = [](uint32_t ranks) {
    ManualClock clock;
    LoopPort port(1, 1514, 64);
    const auto nic = make_nic(port, clock, {});
    const uint64_t before = allocated_bytes.load();
    EXPECT_TRUE(nic->open({.rank = 0, .rank_count = ranks}).ok());
    return allocated_bytes.load() - before;
  };
  EXPECT_LE(bytes_for(4096) - bytes_for(2048), 2048 * 512u);
}

}  // namespace
}  // namespace pinwire
