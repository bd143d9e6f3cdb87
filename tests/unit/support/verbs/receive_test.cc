// Receive queues that run dry, overflow, or get what does not fit.
#include "tests/unit/support/verbs/endpoint.h"

namespace pinwire::fake_verbs {
namespace {

int set_rnr_retry(Endpoint& end, const Endpoint& peer, uint8_t retries) {
  if (const int error = end.to_init()) return error;
  if (const int error = end.to_rtr(peer)) return error;
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTS;
  attr.sq_psn = end.psn();
  attr.timeout = 14;
  attr.rnr_retry = retries;
  return ibv_modify_qp(end.qp, &attr,
                       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                           IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

TEST(FakeVerbsReceive, SevenRetriesAreForEver) {
  Pair pair;
  EXPECT_EQ(pair.a->post(pair.a->request(IBV_WR_SEND, 0, 8, *pair.b)), 0);
  EXPECT_FALSE(pair.fabric.run(500));
  EXPECT_TRUE(pair.a->poll(20).empty());
  EXPECT_GT(pair.fabric.counters("hca1").rnr_naks, 20u);
  EXPECT_EQ(pair.b->post_receive(1, 0, 64), 0);
  EXPECT_TRUE(pair.fabric.run());
  EXPECT_EQ(pair.a->poll().size(), 1u);
  EXPECT_EQ(pair.b->poll().size(), 1u);
}

TEST(FakeVerbsReceive, FewerRetriesEnd) {
  Fabric fabric;
  fabric.add(infiniband("hca0", 1));
  Endpoint a("hca0"), b("hca0");
  EXPECT_EQ(set_rnr_retry(a, b, 2), 0);
  EXPECT_EQ(b.connect(a), 0);
  EXPECT_EQ(a.post(a.request(IBV_WR_SEND, 0, 8, b)), 0);
  ASSERT_EQ(a.poll().at(0).status, IBV_WC_RNR_RETRY_EXC_ERR);
  EXPECT_EQ(fabric.counters().rnr_naks, 3u);
  a.events(), b.events();
}

TEST(FakeVerbsReceive, TooLongAMessage) {
  Pair pair;
  EXPECT_EQ(pair.b->post_receive(9, 0, 16), 0);
  EXPECT_EQ(pair.a->post(pair.a->request(IBV_WR_SEND, 0, 17, *pair.b)), 0);
  ASSERT_EQ(pair.a->poll().at(0).status, IBV_WC_REM_INV_REQ_ERR);
  const auto got = pair.b->poll();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].status, IBV_WC_LOC_LEN_ERR);
  EXPECT_EQ(got[0].wr_id, 9u);
  pair.a->events(), pair.b->events();
}

TEST(FakeVerbsReceive, SlotsComeBackWhenPolled) {
  for (bool is_shared : {true, false}) {
    EndpointOptions small;
    small.receive_depth = 2;
    small.is_shared = is_shared;
    Pair pair(small);
    EXPECT_EQ(pair.b->post_receive(0, 0, 64), 0);
    EXPECT_EQ(pair.b->post_receive(1, 64, 64), 0);
    EXPECT_EQ(pair.b->post_receive(2, 128, 64), ENOMEM);
    EXPECT_EQ(pair.a->post(pair.a->request(IBV_WR_SEND, 0, 8, *pair.b)), 0);
    EXPECT_TRUE(pair.fabric.run());
    EXPECT_EQ(pair.b->post_receive(2, 128, 64), ENOMEM);
    EXPECT_EQ(pair.b->poll().size(), 1u);
    EXPECT_EQ(pair.b->post_receive(2, 128, 64), 0);
  }
}

TEST(FakeVerbsReceive, BuffersAreTheDevicesOncePosted) {
  Pair pair;
  pair.b->memory[5] = 1;
  EXPECT_EQ(pair.b->post_receive(0, 0, 64), 0);
  EXPECT_EQ(pair.b->memory[5], 0xa5);
  EXPECT_TRUE(pair.fabric.violations().empty());
  EXPECT_EQ(pair.b->post_receive(1, 32, 64), 0);
  EXPECT_EQ(pair.fabric.violations().size(), 1u);
}

TEST(FakeVerbsReceive, LimitIsToldOnce) {
  Pair pair;
  for (uint64_t i = 0; i < 4; ++i) EXPECT_EQ(pair.b->post_receive(i, i * 64, 64), 0);
  ibv_srq_attr attr{};
  attr.srq_limit = 3;
  EXPECT_EQ(ibv_modify_srq(pair.b->srq, &attr, IBV_SRQ_LIMIT), 0);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(pair.a->post(pair.a->request(IBV_WR_SEND, 0, 8, *pair.b)), 0);
  }
  EXPECT_TRUE(pair.fabric.run());
  EXPECT_EQ(pair.b->events(), std::vector<ibv_event_type>{IBV_EVENT_SRQ_LIMIT_REACHED});
  EXPECT_EQ(ibv_query_srq(pair.b->srq, &attr), 0);
  EXPECT_EQ(attr.srq_limit, 0u);
  EXPECT_EQ(attr.max_wr, 64u);
}

TEST(FakeVerbsReceive, OwnQueueIsFlushedASharedOneIsNot) {
  for (bool is_shared : {true, false}) {
    EndpointOptions options;
    options.is_shared = is_shared;
    Pair pair(options);
    EXPECT_EQ(pair.b->post_receive(3, 0, 64), 0);
    pair.fabric.break_qp("hca1", pair.b->qp->qp_num);
    const auto got = pair.b->poll();
    EXPECT_EQ(got.size(), is_shared ? 0u : 1u);
    if (!is_shared) {
      EXPECT_EQ(got[0].status, IBV_WC_WR_FLUSH_ERR);
    }
    EXPECT_EQ(pair.b->events().size(), is_shared ? 2u : 1u);
  }
}

}  // namespace
}  // namespace pinwire::fake_verbs
