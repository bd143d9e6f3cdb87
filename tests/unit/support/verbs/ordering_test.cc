// Order within a queue pair, its absence between them, and what a fence is for.
#include <cstring>

#include "tests/unit/support/verbs/endpoint.h"

namespace pinwire::fake_verbs {
namespace {

TEST(FakeVerbsOrdering, OneQueuePairKeepsIt) {
  Pair pair;
  for (uint64_t i = 0; i < 32; ++i) EXPECT_EQ(pair.b->post_receive(i, i * 64, 64), 0);
  for (uint64_t i = 0; i < 32; ++i) {
    ibv_send_wr wr = pair.a->request(IBV_WR_SEND_WITH_IMM, 0, 8, *pair.b);
    wr.wr_id = i;
    wr.imm_data = static_cast<uint32_t>(i);
    EXPECT_EQ(pair.a->post(wr), 0);
  }
  EXPECT_TRUE(pair.fabric.run());
  const auto sent = pair.a->poll();
  const auto got = pair.b->poll();
  ASSERT_EQ(sent.size(), 32u);
  ASSERT_EQ(got.size(), 32u);
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(sent[i].wr_id, i);
    EXPECT_EQ(got[i].imm_data, i);
  }
}

/// Which of two queue pairs came first, for each of 32 messages.
std::vector<uint32_t> interleaving(uint64_t seed) {
  Fabric fabric(seed);
  fabric.add(infiniband("hca0", 1));
  Endpoint to[] = {Endpoint("hca0"), Endpoint("hca0")};
  Endpoint from[] = {Endpoint("hca0"), Endpoint("hca0")};
  uint64_t* log = reinterpret_cast<uint64_t*>(to[0].memory.data());
  std::vector<uint32_t> order;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(from[i].connect(to[i]), 0);
    EXPECT_EQ(to[i].connect(from[i]), 0);
  }
  // A counter of each sender, seen after every tick.
  for (int n = 0; n < 16; ++n) {
    for (int i = 0; i < 2; ++i) {
      ibv_send_wr add = from[i].request(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8, to[i], 0);
      add.wr.atomic.compare_add = 1;
      EXPECT_EQ(from[i].post(add), 0);
    }
  }
  while (!fabric.run(1)) {
    order.push_back(
        static_cast<uint32_t>(log[0] * 100 + *reinterpret_cast<uint64_t*>(to[1].memory.data())));
  }
  return order;
}

TEST(FakeVerbsOrdering, TheSeedDecidesBetweenQueuePairs) {
  EXPECT_EQ(interleaving(1), interleaving(1));
  EXPECT_NE(interleaving(1), interleaving(2));
}

/// Reads 8 bytes, then sends the place they go to: does the message carry them?
int messages_with_the_data(unsigned int flags) {
  int good = 0;
  for (uint64_t seed = 1; seed <= 32; ++seed) {
    Pair pair({}, seed);
    pair.fabric.set_strictness({.stable_sources = false});
    pair.b->memory[0] = 1;
    EXPECT_EQ(pair.b->post_receive(0, 4096, 64), 0);
    EXPECT_EQ(pair.a->post(pair.a->request(IBV_WR_RDMA_READ, 8, 8, *pair.b, 0)), 0);
    ibv_send_wr send = pair.a->request(IBV_WR_SEND, 8, 8, *pair.b);
    send.send_flags |= flags;
    EXPECT_EQ(pair.a->post(send), 0);
    EXPECT_TRUE(pair.fabric.run());
    good += pair.b->memory[4096] == 1 ? 1 : 0;
  }
  return good;
}

TEST(FakeVerbsOrdering, WithoutAFenceASendMayOvertakeARead) {
  EXPECT_EQ(messages_with_the_data(IBV_SEND_FENCE), 32);
  EXPECT_LT(messages_with_the_data(0), 32);
}

TEST(FakeVerbsOrdering, AReadMayFetchLate) {
  int late = 0;
  for (uint64_t seed = 1; seed <= 32; ++seed) {
    Pair pair({}, seed);
    EXPECT_EQ(pair.a->post(pair.a->request(IBV_WR_RDMA_READ, 8, 8, *pair.b, 0)), 0);
    pair.a->memory[16] = 7;
    EXPECT_EQ(pair.a->post(pair.a->request(IBV_WR_RDMA_WRITE, 16, 8, *pair.b, 0)), 0);
    EXPECT_TRUE(pair.fabric.run());
    late += pair.a->memory[8] == 7 ? 1 : 0;
  }
  EXPECT_GT(late, 0);
  EXPECT_LT(late, 32);
}

TEST(FakeVerbsOrdering, NoMoreReadsAtOnceThanAgreed) {
  Pair pair;
  pair.fabric.set_timing({.delay_max = 0, .ack_max = 0, .burst_max = 64});
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(pair.a->post(pair.a->request(IBV_WR_RDMA_READ, 0, 8, *pair.b)), 0);
  }
  pair.fabric.step();
  EXPECT_EQ(pair.fabric.counters("hca0").reads, 4u);
  EXPECT_TRUE(pair.fabric.run());
  for (const ibv_wc& wc : pair.a->poll()) EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
}

TEST(FakeVerbsOrdering, AResponderRefusesMoreReadsThanItKeeps) {
  Fabric fabric;
  fabric.add(infiniband("hca0", 1));
  Endpoint a("hca0"), b("hca0");
  EXPECT_EQ(a.to_init() + a.to_rtr(b), 0);
  EXPECT_EQ(b.connect(a), 0);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTS;
  attr.sq_psn = a.psn();
  attr.timeout = 14;
  attr.max_rd_atomic = 16;  // b keeps 4
  EXPECT_EQ(ibv_modify_qp(a.qp, &attr,
                          IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                              IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
            0);
  fabric.set_timing({.delay_max = 0, .burst_max = 64});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(a.post(a.request(IBV_WR_RDMA_READ, 0, 8, b)), 0);
  const auto done = a.poll();
  ASSERT_EQ(done.size(), 5u);
  EXPECT_EQ(done[3].status, IBV_WC_SUCCESS);
  EXPECT_EQ(done[4].status, IBV_WC_REM_INV_REQ_ERR);
  a.events(), b.events();
}

}  // namespace
}  // namespace pinwire::fake_verbs
