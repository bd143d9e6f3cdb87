// Peers, ports and devices that go.
#include "tests/unit/support/verbs/endpoint.h"

namespace pinwire::fake_verbs {
namespace {

ibv_wc_status write_to(Pair& pair) {
  EXPECT_EQ(pair.a->post(pair.a->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.b)), 0);
  const auto done = pair.a->poll();
  return done.size() == 1 ? done[0].status : IBV_WC_GENERAL_ERR;
}

TEST(FakeVerbsFailure, AKilledPeerIsSilent) {
  Pair pair;
  EXPECT_EQ(write_to(pair), IBV_WC_SUCCESS);
  pair.fabric.kill("hca1");
  EXPECT_EQ(write_to(pair), IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(pair.b->post(pair.b->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.a)), 0);
  EXPECT_TRUE(pair.b->poll().empty());
  EXPECT_TRUE(pair.b->events().empty());
  EXPECT_EQ(pair.a->events(), std::vector<ibv_event_type>{IBV_EVENT_QP_LAST_WQE_REACHED});
}

TEST(FakeVerbsFailure, ADestroyedQueuePairIsSilent) {
  Pair pair;
  EXPECT_EQ(ibv_destroy_qp(pair.b->qp), 0);
  pair.b->qp = nullptr;
  EXPECT_EQ(pair.a->post(pair.a->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.b)), 0);
  ASSERT_EQ(pair.a->poll().at(0).status, IBV_WC_RETRY_EXC_ERR);
  pair.a->events();
}

TEST(FakeVerbsFailure, AShortBreakOfThePortIsBridged) {
  Pair pair;
  pair.fabric.set_port_state("hca1", 1, IBV_PORT_DOWN);
  EXPECT_EQ(pair.a->post(pair.a->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.b)), 0);
  EXPECT_TRUE(pair.a->poll(12).empty());
  pair.fabric.set_port_state("hca1", 1, IBV_PORT_ACTIVE);
  ASSERT_EQ(pair.a->poll().at(0).status, IBV_WC_SUCCESS);
  pair.b->events();
}

TEST(FakeVerbsFailure, EverythingQueuedIsFlushedInOrder) {
  Pair pair;
  for (uint64_t i = 0; i < 6; ++i) {
    ibv_send_wr wr = pair.a->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.b);
    wr.wr_id = i;
    wr.send_flags = 0;
    EXPECT_EQ(pair.a->post(wr), 0);
  }
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  EXPECT_EQ(ibv_modify_qp(pair.a->qp, &attr, IBV_QP_STATE), 0);
  ibv_send_wr late = pair.a->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.b);
  late.wr_id = 6;
  EXPECT_EQ(pair.a->post(late), 0);
  const auto done = pair.a->poll();
  ASSERT_EQ(done.size(), 7u);
  for (uint64_t i = 0; i < 7; ++i) {
    EXPECT_EQ(done[i].wr_id, i);
    EXPECT_EQ(done[i].status, IBV_WC_WR_FLUSH_ERR);
  }
  EXPECT_EQ(pair.fabric.counters().writes, 0u);
  pair.a->events();
}

TEST(FakeVerbsFailure, AFatalDeviceFlushesAndRefuses) {
  Pair pair;
  EXPECT_EQ(pair.a->post(pair.a->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.b)), 0);
  pair.fabric.device_fatal("hca0");
  ASSERT_EQ(pair.a->poll().at(0).status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(ibv_create_cq(pair.a->context, 8, nullptr, nullptr, 0), nullptr);
  EXPECT_EQ(errno, EIO);
  pair.a->events();
}

TEST(FakeVerbsFailure, PostsFailWhenTheyAreTold) {
  Pair pair;
  pair.fabric.fail(Call::kPostSend, ENOMEM, 2, 2);
  const ibv_send_wr wr = pair.a->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.b);
  EXPECT_EQ(pair.a->post(wr), 0);
  EXPECT_EQ(pair.a->post(wr), ENOMEM);
  EXPECT_EQ(pair.a->post(wr), ENOMEM);
  EXPECT_EQ(pair.a->post(wr), 0);
  EXPECT_EQ(pair.a->poll().size(), 2u);
}

}  // namespace
}  // namespace pinwire::fake_verbs
