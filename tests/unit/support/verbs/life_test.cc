// Objects go in order or not at all, within the limits of their device.
#include "tests/unit/support/verbs/endpoint.h"

namespace pinwire::fake_verbs {
namespace {

TEST(FakeVerbsLife, UsersKeepWhatTheyStandOn) {
  EndpointOptions options;
  options.has_channel = true;
  Pair pair(options);
  EXPECT_EQ(ibv_dealloc_pd(pair.a->pd), EBUSY);
  EXPECT_EQ(ibv_destroy_cq(pair.a->cq), EBUSY);
  EXPECT_EQ(ibv_destroy_srq(pair.a->srq), EBUSY);
  EXPECT_EQ(ibv_destroy_comp_channel(pair.a->channel), EBUSY);
  EXPECT_EQ(ibv_close_device(pair.a->context), EBUSY);
  EXPECT_EQ(pair.fabric.violations().size(), 1u);
}

TEST(FakeVerbsLife, NothingIsLeftAfterwards) {
  Fabric fabric;
  fabric.add(infiniband("hca0", 1));
  {
    Endpoint one("hca0");
    const auto live = fabric.live();
    EXPECT_EQ(live.size(), 6u);
    EXPECT_EQ(live[0], "context hca0 #1");
  }
  EXPECT_TRUE(fabric.live().empty());
  EXPECT_TRUE(fabric.violations().empty());
}

TEST(FakeVerbsLife, LimitsOfTheDevice) {
  Fabric fabric;
  HcaSpec spec = infiniband("hca0", 1);
  spec.limits.max_qp = 1;
  spec.limits.max_qp_wr = 64;
  spec.limits.max_cqe = 256;
  spec.limits.max_srq_wr = 64;
  spec.inline_bytes_max = 64;
  fabric.add(spec);
  Endpoint one("hca0");
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = one.cq;
  init.qp_type = IBV_QPT_RC;
  EXPECT_EQ(ibv_create_qp(one.pd, &init), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  init.cap.max_send_wr = 65;
  EXPECT_EQ(ibv_create_qp(one.pd, &init), nullptr);
  EXPECT_EQ(errno, EINVAL);
  init.cap.max_send_wr = 1;
  init.cap.max_inline_data = 65;
  EXPECT_EQ(ibv_create_qp(one.pd, &init), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_create_cq(one.context, 257, nullptr, nullptr, 0), nullptr);
  EXPECT_EQ(errno, EINVAL);
  ibv_srq_init_attr shared{};
  shared.attr.max_wr = 65;
  EXPECT_EQ(ibv_create_srq(one.pd, &shared), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST(FakeVerbsLife, CompletionsGoWithTheirQueuePair) {
  Pair pair;
  EXPECT_EQ(pair.a->post(pair.a->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.b)), 0);
  EXPECT_TRUE(pair.fabric.run());
  EXPECT_EQ(ibv_destroy_qp(pair.a->qp), 0);
  pair.a->qp = nullptr;
  EXPECT_TRUE(pair.a->poll().empty());
}

TEST(FakeVerbsLife, DevicesNumberForThemselves) {
  Pair pair;
  EXPECT_EQ(pair.a->qp->qp_num, pair.b->qp->qp_num);
}

}  // namespace
}  // namespace pinwire::fake_verbs
