// Requests that are refused at the peer, and at home.
#include "tests/unit/support/verbs/endpoint.h"

namespace pinwire::fake_verbs {
namespace {

/// Posts it, and expects it to end both ends of the connection with this.
void expect_refused(Pair& pair, ibv_send_wr wr, ibv_wc_status status, ibv_event_type event) {
  wr.wr_id = 1;
  ASSERT_EQ(pair.a->post(wr), 0);
  ibv_send_wr later = pair.a->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.b);
  later.wr_id = 2;
  later.send_flags = 0;
  ASSERT_EQ(pair.a->post(later), 0);
  const auto done = pair.a->poll();
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].wr_id, 1u);
  EXPECT_EQ(done[0].status, status) << ibv_wc_status_str(done[0].status);
  EXPECT_EQ(done[1].wr_id, 2u);
  EXPECT_EQ(done[1].status, IBV_WC_WR_FLUSH_ERR);
  const auto events = pair.b->events();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0], event);
  EXPECT_EQ(events[1], IBV_EVENT_QP_LAST_WQE_REACHED);
  EXPECT_FALSE(pair.a->events().empty());
}

TEST(FakeVerbsRights, WrongRemoteKey) {
  Pair pair;
  ibv_send_wr wr = pair.a->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.b);
  wr.wr.rdma.rkey = pair.b->mr->lkey;
  expect_refused(pair, wr, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
}

TEST(FakeVerbsRights, BeyondTheRegion) {
  Pair pair;
  const auto last = static_cast<uint64_t>(pair.b->memory.size());
  expect_refused(pair, pair.a->request(IBV_WR_RDMA_READ, 0, 8, *pair.b, last - 7),
                 IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
}

TEST(FakeVerbsRights, QueuePairDoesNotPermit) {
  EndpointOptions only_write;
  only_write.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  Pair pair(only_write);
  expect_refused(pair, pair.a->request(IBV_WR_RDMA_READ, 0, 8, *pair.b), IBV_WC_REM_INV_REQ_ERR,
                 IBV_EVENT_QP_REQ_ERR);
}

TEST(FakeVerbsRights, RegionDoesNotPermit) {
  Pair pair;
  ibv_mr* readable =
      ibv_reg_mr(pair.b->pd, pair.b->memory.data(), 64, static_cast<int>(IBV_ACCESS_REMOTE_READ));
  ibv_send_wr wr = pair.a->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.b);
  wr.wr.rdma.rkey = readable->rkey;
  expect_refused(pair, wr, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
  EXPECT_EQ(ibv_dereg_mr(readable), 0);
}

TEST(FakeVerbsRights, CrookedAtomic) {
  Pair pair;
  expect_refused(pair, pair.a->request(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8, *pair.b, 12),
                 IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
}

TEST(FakeVerbsRights, WrongLocalKeyIsFoundAtHome) {
  Pair pair;
  ibv_send_wr wr = pair.a->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.b);
  pair.a->places[0].lkey = pair.a->mr->rkey;
  EXPECT_EQ(pair.a->post(wr), 0);
  ASSERT_EQ(pair.a->poll().at(0).status, IBV_WC_LOC_PROT_ERR);
  EXPECT_TRUE(pair.b->events().empty());
  pair.a->events();
}

TEST(FakeVerbsRights, ReadNeedsAWritablePlace) {
  Pair pair;
  ibv_mr* constant = ibv_reg_mr(pair.a->pd, pair.a->memory.data(), 64, 0);
  ibv_send_wr wr = pair.a->request(IBV_WR_RDMA_READ, 0, 8, *pair.b);
  pair.a->places[0].lkey = constant->lkey;
  EXPECT_EQ(pair.a->post(wr), 0);
  ASSERT_EQ(pair.a->poll().at(0).status, IBV_WC_LOC_PROT_ERR);
  EXPECT_EQ(ibv_dereg_mr(constant), 0);
  pair.a->events();
}

TEST(FakeVerbsRights, RegistrationIsChecked) {
  Pair pair;
  auto* base = pair.a->memory.data();
  EXPECT_EQ(ibv_reg_mr(pair.a->pd, base, 0, 0), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_reg_mr(pair.a->pd, base, 64, static_cast<int>(IBV_ACCESS_REMOTE_WRITE)), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_reg_mr(pair.a->pd, reinterpret_cast<void*>(0x1000), 64, 0), nullptr);
  EXPECT_EQ(errno, EFAULT);
  pair.fabric.fail(Call::kRegMr, ENOMEM);
  EXPECT_EQ(ibv_reg_mr(pair.a->pd, base, 64, 0), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(ibv_fork_init(), EINVAL);
}

}  // namespace
}  // namespace pinwire::fake_verbs
