// Data that arrives: each operation, on two devices and on one.
#include <cstring>
#include <numeric>

#include "tests/unit/support/verbs/endpoint.h"

namespace pinwire::fake_verbs {
namespace {

void fill(Endpoint& end, uint64_t offset, uint32_t bytes, unsigned char first) {
  std::iota(end.memory.begin() + static_cast<long>(offset),
            end.memory.begin() + static_cast<long>(offset + bytes), first);
}

bool same(const Endpoint& a, uint64_t at, const Endpoint& b, uint64_t there, uint32_t bytes) {
  return std::memcmp(&a.memory[at], &b.memory[there], bytes) == 0;
}

TEST(FakeVerbsTransfer, Write) {
  Pair pair;
  fill(*pair.a, 100, 9000, 3);
  EXPECT_EQ(pair.a->post(pair.a->request(IBV_WR_RDMA_WRITE, 100, 9000, *pair.b, 2001)), 0);
  const auto done = pair.a->poll();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(done[0].opcode, IBV_WC_RDMA_WRITE);
  EXPECT_TRUE(same(*pair.a, 100, *pair.b, 2001, 9000));
  EXPECT_EQ(pair.b->memory[2000], 0);
  EXPECT_EQ(pair.fabric.counters("hca0").writes, 1u);
  EXPECT_EQ(pair.fabric.counters("hca0").gathered_bytes, 9000u);
}

TEST(FakeVerbsTransfer, SendGathersAndTellsItsNumber) {
  Pair pair;
  fill(*pair.a, 0, 300, 1);
  EXPECT_EQ(pair.b->post_receive(77, 4096, 512), 0);
  ibv_sge two[] = {pair.a->place(0, 100), pair.a->place(200, 50)};
  ibv_send_wr wr = pair.a->request(IBV_WR_SEND_WITH_IMM, 0, 0, *pair.b);
  wr.sg_list = two;
  wr.num_sge = 2;
  wr.imm_data = 0xfeed;
  EXPECT_EQ(pair.a->post(wr), 0);
  const auto got = pair.b->poll();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].opcode, IBV_WC_RECV);
  EXPECT_EQ(got[0].wr_id, 77u);
  EXPECT_EQ(got[0].byte_len, 150u);
  EXPECT_EQ(got[0].imm_data, 0xfeedu);
  EXPECT_EQ(got[0].wc_flags, static_cast<unsigned>(IBV_WC_WITH_IMM));
  EXPECT_EQ(got[0].qp_num, pair.b->qp->qp_num);
  EXPECT_TRUE(same(*pair.a, 0, *pair.b, 4096, 100));
  EXPECT_TRUE(same(*pair.a, 200, *pair.b, 4196, 50));
}

TEST(FakeVerbsTransfer, WriteWithImmediateTakesAReceive) {
  Pair pair;
  fill(*pair.a, 0, 64, 9);
  EXPECT_EQ(pair.b->post_receive(5, 4096, 0), 0);
  ibv_send_wr wr = pair.a->request(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 64, *pair.b, 512);
  wr.imm_data = 12;
  EXPECT_EQ(pair.a->post(wr), 0);
  const auto got = pair.b->poll();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(got[0].byte_len, 64u);
  EXPECT_EQ(got[0].imm_data, 12u);
  EXPECT_TRUE(same(*pair.a, 0, *pair.b, 512, 64));
}

TEST(FakeVerbsTransfer, Read) {
  Pair pair;
  fill(*pair.b, 7, 5000, 4);
  EXPECT_EQ(pair.a->post(pair.a->request(IBV_WR_RDMA_READ, 64, 5000, *pair.b, 7)), 0);
  const auto done = pair.a->poll();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].opcode, IBV_WC_RDMA_READ);
  EXPECT_EQ(done[0].byte_len, 5000u);
  EXPECT_TRUE(same(*pair.a, 64, *pair.b, 7, 5000));
}

TEST(FakeVerbsTransfer, Atomics) {
  Pair pair;
  uint64_t word = 40;
  std::memcpy(&pair.b->memory[8], &word, 8);
  ibv_send_wr add = pair.a->request(IBV_WR_ATOMIC_FETCH_AND_ADD, 16, 8, *pair.b, 8);
  add.wr.atomic.compare_add = 2;
  EXPECT_EQ(pair.a->post(add), 0);
  ASSERT_EQ(pair.a->poll().at(0).opcode, IBV_WC_FETCH_ADD);
  std::memcpy(&word, &pair.a->memory[16], 8);
  EXPECT_EQ(word, 40u);
  for (uint64_t expected : {42u, 1u}) {  // swaps; then does not
    ibv_send_wr swap = pair.a->request(IBV_WR_ATOMIC_CMP_AND_SWP, 24, 8, *pair.b, 8);
    swap.wr.atomic.compare_add = expected;
    swap.wr.atomic.swap = expected + 100;
    EXPECT_EQ(pair.a->post(swap), 0);
    ASSERT_EQ(pair.a->poll().at(0).opcode, IBV_WC_COMP_SWAP);
    std::memcpy(&word, &pair.a->memory[24], 8);
    EXPECT_EQ(word, expected == 42 ? 42u : 142u);
    std::memcpy(&word, &pair.b->memory[8], 8);
    EXPECT_EQ(word, 142u);
  }
}

TEST(FakeVerbsTransfer, ToOneself) {
  Fabric fabric;
  fabric.add(infiniband("hca0", 1));
  Endpoint a("hca0"), b("hca0");
  EXPECT_EQ(a.connect(b), 0);
  EXPECT_EQ(b.connect(a), 0);
  fill(a, 0, 32, 1);
  EXPECT_EQ(a.post(a.request(IBV_WR_RDMA_WRITE, 0, 32, b, 0)), 0);
  ASSERT_EQ(a.poll().size(), 1u);
  EXPECT_TRUE(same(a, 0, b, 0, 32));
}

TEST(FakeVerbsTransfer, RegionsMayStartAtAnotherAddress) {
  Pair pair;
  ibv_mr* moved = ibv_reg_mr_iova(pair.b->pd, &pair.b->memory[1024], 256, 0x10000,
                                  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  ASSERT_NE(moved, nullptr);
  EXPECT_NE(moved->lkey, moved->rkey);
  fill(*pair.a, 0, 16, 50);
  ibv_send_wr wr = pair.a->request(IBV_WR_RDMA_WRITE, 0, 16, *pair.b);
  wr.wr.rdma.remote_addr = 0x10010;
  wr.wr.rdma.rkey = moved->rkey;
  EXPECT_EQ(pair.a->post(wr), 0);
  ASSERT_EQ(pair.a->poll().at(0).status, IBV_WC_SUCCESS);
  EXPECT_TRUE(same(*pair.a, 0, *pair.b, 1024 + 16, 16));
  EXPECT_EQ(ibv_dereg_mr(moved), 0);
}

}  // namespace
}  // namespace pinwire::fake_verbs
