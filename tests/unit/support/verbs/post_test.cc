// Requests that a send queue takes.
#include <cstring>

#include "tests/unit/support/verbs/endpoint.h"

namespace pinwire::fake_verbs {
namespace {

TEST(FakeVerbsPost, SlotsComeBackWithPolledCompletionsAlone) {
  EndpointOptions small;
  small.send_depth = 4;
  Pair pair(small);
  ibv_send_wr silent = pair.a->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.b);
  silent.send_flags = 0;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pair.a->post(silent), 0);
  EXPECT_TRUE(pair.a->poll().empty());
  ibv_send_wr loud = pair.a->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.b);
  EXPECT_EQ(pair.a->post(loud), 0);
  EXPECT_EQ(pair.a->post(loud), ENOMEM);
  EXPECT_TRUE(pair.fabric.run());
  EXPECT_EQ(pair.a->post(loud), ENOMEM);
  EXPECT_EQ(pair.a->poll().size(), 1u);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(pair.a->post(loud), 0);
  EXPECT_EQ(pair.a->post(loud), ENOMEM);
}

TEST(FakeVerbsPost, AListIsTakenUpToTheBadOne) {
  Pair pair;
  ibv_send_wr list[3];
  for (auto& wr : list) wr = pair.a->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.b);
  list[0].next = &list[1];
  list[1].next = &list[2];
  list[2].num_sge = 3;
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_send(pair.a->qp, list, &bad), EINVAL);
  EXPECT_EQ(bad, &list[2]);
  EXPECT_EQ(pair.a->poll().size(), 2u);
  EXPECT_EQ(pair.fabric.counters("hca0").doorbells, 1u);
  EXPECT_EQ(pair.fabric.counters("hca0").send_wrs, 2u);
}

TEST(FakeVerbsPost, InlineIsCopiedAtOnceOthersAreReadLater) {
  Pair pair;
  ibv_send_wr wr = pair.a->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.b, 0);
  wr.send_flags |= IBV_SEND_INLINE;
  pair.a->places[0].lkey = 0;  // not looked at
  pair.a->memory[0] = 1;
  EXPECT_EQ(pair.a->post(wr), 0);
  EXPECT_EQ(pair.a->post(pair.a->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.b, 8)), 0);
  pair.a->memory[0] = 2;
  EXPECT_EQ(pair.a->poll().size(), 2u);
  EXPECT_EQ(pair.b->memory[0], 1);
  EXPECT_EQ(pair.b->memory[8], 2);
  EXPECT_EQ(pair.fabric.counters("hca0").inline_bytes, 8u);
  wr = pair.a->request(IBV_WR_RDMA_WRITE, 0, 65, *pair.b);
  wr.send_flags |= IBV_SEND_INLINE;
  EXPECT_EQ(pair.a->post(wr), EINVAL);
  wr = pair.a->request(IBV_WR_RDMA_READ, 0, 8, *pair.b);
  wr.send_flags |= IBV_SEND_INLINE;
  EXPECT_EQ(pair.a->post(wr), EINVAL);
}

TEST(FakeVerbsPost, SourcesMustStayUntilTheCompletion) {
  Pair pair;
  pair.fabric.set_manual(true);
  pair.fabric.set_timing({.delay_max = 0, .ack_max = 8, .burst_max = 1});
  for (bool early : {false, true}) {
    EXPECT_EQ(pair.a->post(pair.a->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.b)), 0);
    while (pair.fabric.counters("hca0").writes == 0) pair.fabric.step();
    if (early) ++pair.a->memory[3];
    EXPECT_TRUE(pair.fabric.run());
    EXPECT_EQ(pair.fabric.violations().size(), early ? 1u : 0u);
    EXPECT_EQ(pair.a->poll().size(), 1u);
    pair.fabric.reset_counters();
  }
}

TEST(FakeVerbsPost, SignalsAllWhenMadeSo) {
  EndpointOptions loud;
  loud.signals_all = true;
  Pair pair(loud);
  ibv_send_wr wr = pair.a->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.b);
  wr.send_flags = 0;
  EXPECT_EQ(pair.a->post(wr), 0);
  EXPECT_EQ(pair.a->poll().size(), 1u);
}

TEST(FakeVerbsPost, TraceShowsThePlaces) {
  Pair pair;
  pair.fabric.set_trace(true);
  EXPECT_EQ(pair.a->post(pair.a->request(IBV_WR_RDMA_WRITE, 48, 8, *pair.b, 16)), 0);
  const auto trace = pair.fabric.trace();
  ASSERT_EQ(trace.size(), 1u);
  EXPECT_EQ(trace[0].device, "hca0");
  EXPECT_EQ(trace[0].places.at(0).addr, pair.a->address(48));
  EXPECT_EQ(trace[0].remote_addr, pair.b->address(16));
  EXPECT_EQ(trace[0].doorbell, 1u);
}

}  // namespace
}  // namespace pinwire::fake_verbs
