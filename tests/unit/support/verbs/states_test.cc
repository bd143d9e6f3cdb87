// The states of queue pairs, and connections that do not come about.
#include "tests/unit/support/verbs/endpoint.h"

namespace pinwire::fake_verbs {
namespace {

struct Unconnected {
  Unconnected() {
    fabric.add(infiniband("hca0", 1));
    fabric.add(infiniband("hca1", 2));
    a = std::make_unique<Endpoint>("hca0");
    b = std::make_unique<Endpoint>("hca1");
  }
  Fabric fabric;
  std::unique_ptr<Endpoint> a, b;
};

TEST(FakeVerbsStates, OrderOfStatesIsKept) {
  Unconnected pair;
  EXPECT_EQ(pair.a->to_rtr(*pair.b), EINVAL);
  EXPECT_EQ(pair.a->to_rts(), EINVAL);
  EXPECT_EQ(pair.a->to_init(), 0);
  EXPECT_EQ(pair.a->to_rts(), EINVAL);
  EXPECT_EQ(pair.a->to_rtr(*pair.b), 0);
  EXPECT_EQ(pair.a->to_init(), EINVAL);
  EXPECT_EQ(pair.a->to_rts(), 0);
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  EXPECT_EQ(ibv_query_qp(pair.a->qp, &attr, IBV_QP_STATE, &init), 0);
  EXPECT_EQ(attr.qp_state, IBV_QPS_RTS);
  EXPECT_EQ(attr.dest_qp_num, pair.b->qp->qp_num);
}

TEST(FakeVerbsStates, MaskMustBeWholeAndNoMore) {
  Unconnected pair;
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  EXPECT_EQ(ibv_modify_qp(pair.a->qp, &attr, IBV_QP_STATE | IBV_QP_PORT), EINVAL);
  const int whole = IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS;
  EXPECT_EQ(ibv_modify_qp(pair.a->qp, &attr, whole | IBV_QP_TIMEOUT), EINVAL);
  attr.port_num = 2;
  EXPECT_EQ(ibv_modify_qp(pair.a->qp, &attr, whole), EINVAL);
  attr.port_num = 1;
  attr.pkey_index = 1;
  EXPECT_EQ(ibv_modify_qp(pair.a->qp, &attr, whole), EINVAL);
  attr.pkey_index = 0;
  EXPECT_EQ(ibv_modify_qp(pair.a->qp, &attr, whole), 0);
}

TEST(FakeVerbsStates, SendsBeforeReadyAreRefused) {
  Unconnected pair;
  EXPECT_EQ(pair.a->to_init(), 0);
  EXPECT_EQ(pair.a->to_rtr(*pair.b), 0);
  EXPECT_EQ(pair.a->post(pair.a->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.b)), EINVAL);
}

TEST(FakeVerbsStates, PacketNumbersMustAgree) {
  Unconnected pair;
  EXPECT_EQ(pair.a->connect(*pair.b), 0);
  EXPECT_EQ(pair.b->connect(*pair.a), 0);
  EXPECT_EQ(pair.a->to_rtr(*pair.b), EINVAL);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RESET;
  EXPECT_EQ(ibv_modify_qp(pair.a->qp, &attr, IBV_QP_STATE), 0);
  // Connected anew from the first number, while the peer is further on.
  ibv_send_wr write = pair.b->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.a);
  EXPECT_EQ(pair.a->connect(*pair.b), 0);
  EXPECT_EQ(pair.b->post(write), 0);
  ASSERT_EQ(pair.b->poll().size(), 1u);
  EXPECT_EQ(ibv_modify_qp(pair.a->qp, &attr, IBV_QP_STATE), 0);
  EXPECT_EQ(pair.a->connect(*pair.b), 0);
  EXPECT_EQ(pair.b->post(write), 0);
  const auto done = pair.b->poll();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_GT(pair.fabric.counters("hca1").lost, 0u);
}

TEST(FakeVerbsStates, ThePeerMustBeListening) {
  Unconnected pair;
  EXPECT_EQ(pair.a->connect(*pair.b), 0);
  EXPECT_EQ(pair.b->to_init(), 0);
  EXPECT_EQ(pair.a->post(pair.a->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.b)), 0);
  // The peer comes just in time: tries go on for a while.
  EXPECT_TRUE(pair.a->poll(10).empty());
  EXPECT_EQ(pair.b->to_rtr(*pair.a), 0);
  const auto done = pair.a->poll();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(pair.b->events(), std::vector<ibv_event_type>{IBV_EVENT_COMM_EST});
}

TEST(FakeVerbsStates, RoceNeedsAGidOfItsKind) {
  Fabric fabric;
  fabric.add(roce("eth0", 1));
  fabric.add(roce("eth1", 2));
  EndpointOptions v2, v1;
  v2.gid_index = 3;
  v1.gid_index = 2;
  for (bool same : {true, false}) {
    Endpoint a("eth0", v2), b("eth1", same ? v2 : v1);
    EXPECT_EQ(a.connect(b), 0);
    EXPECT_EQ(b.connect(a), 0);
    EXPECT_EQ(a.post(a.request(IBV_WR_RDMA_WRITE, 0, 8, b)), 0);
    const auto done = a.poll();
    ASSERT_EQ(done.size(), 1u);
    // The IPv4 address of both kinds is the same: the kind alone keeps them apart.
    EXPECT_EQ(done[0].status, same ? IBV_WC_SUCCESS : IBV_WC_RETRY_EXC_ERR);
  }
}

TEST(FakeVerbsStates, SubnetsAreApart) {
  Fabric fabric;
  fabric.add(infiniband("hca0", 1));
  HcaSpec other = infiniband("hca1", 2);
  other.ports[0].subnet = 1;
  fabric.add(other);
  Endpoint a("hca0"), b("hca1");
  EXPECT_EQ(a.connect(b), 0);
  EXPECT_EQ(b.connect(a), 0);
  EXPECT_EQ(a.post(a.request(IBV_WR_RDMA_WRITE, 0, 8, b)), 0);
  ASSERT_EQ(a.poll().at(0).status, IBV_WC_RETRY_EXC_ERR);
}

}  // namespace
}  // namespace pinwire::fake_verbs
