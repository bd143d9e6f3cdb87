// Ranks that are threads: each posts, polls and watches its memory while the others do.
#include <atomic>
#include <thread>

#include "tests/unit/support/verbs/endpoint.h"

namespace pinwire::fake_verbs {
namespace {

/// Writes a rising number into the peer's memory, and waits for the peer's to rise as far.
void ping_pong(Endpoint& self, Endpoint& peer, uint64_t rounds) {
  std::atomic_ref<uint64_t> inbox(*reinterpret_cast<uint64_t*>(self.memory.data()));
  auto* outbox = reinterpret_cast<uint64_t*>(&self.memory[64]);
  for (uint64_t round = 1; round <= rounds; ++round) {
    *outbox = round;
    ASSERT_EQ(self.post(self.request(IBV_WR_RDMA_WRITE, 64, 8, peer, 0)), 0);
    bool is_done = false;
    while (!is_done || inbox.load(std::memory_order_acquire) < round) {
      ibv_wc wc{};
      if (ibv_poll_cq(self.cq, 1, &wc) != 1) continue;
      ASSERT_EQ(wc.status, IBV_WC_SUCCESS);
      is_done = true;
    }
  }
}

TEST(FakeVerbsThreads, PingPong) {
  Pair pair;
  std::thread other([&] { ping_pong(*pair.b, *pair.a, 200); });
  ping_pong(*pair.a, *pair.b, 200);
  other.join();
  EXPECT_EQ(pair.fabric.counters().writes, 400u);
  EXPECT_TRUE(pair.fabric.violations().empty());
}

}  // namespace
}  // namespace pinwire::fake_verbs
