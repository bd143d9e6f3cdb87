// Unreliable datagrams.
#include <cstring>

#include "tests/unit/support/verbs/endpoint.h"

namespace pinwire::fake_verbs {
namespace {

constexpr uint32_t kHeaderBytes = 40;

EndpointOptions datagrams() {
  EndpointOptions options;
  options.type = IBV_QPT_UD;
  return options;
}

struct Datagrams : Pair {
  Datagrams() : Pair(datagrams()) {
    ibv_ah_attr to{};
    to.dlid = 2;
    to.port_num = 1;
    to.is_global = 1;
    to.grh.dgid = b->gid();
    ah = ibv_create_ah(a->pd, &to);
    EXPECT_NE(ah, nullptr);
  }
  ~Datagrams() { EXPECT_EQ(ibv_destroy_ah(ah), 0); }

  ibv_send_wr datagram(uint32_t bytes) {
    ibv_send_wr wr = a->request(IBV_WR_SEND, 0, bytes, *b);
    wr.wr.ud.ah = ah;
    wr.wr.ud.remote_qpn = b->qp->qp_num;
    wr.wr.ud.remote_qkey = kQkey;
    return wr;
  }
  ibv_ah* ah;
};

TEST(FakeVerbsDatagram, ArrivesBehindItsHeader) {
  Datagrams pair;
  pair.a->memory[0] = 99;
  EXPECT_EQ(pair.b->post_receive(4, 4096, 128), 0);
  EXPECT_EQ(pair.a->post(pair.datagram(10)), 0);
  const auto got = pair.b->poll();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].byte_len, kHeaderBytes + 10);
  EXPECT_EQ(got[0].src_qp, pair.a->qp->qp_num);
  EXPECT_EQ(got[0].slid, 1);
  EXPECT_EQ(got[0].wc_flags, static_cast<unsigned>(IBV_WC_GRH));
  EXPECT_EQ(pair.b->memory[4096 + kHeaderBytes], 99);
  ibv_grh header;
  std::memcpy(&header, &pair.b->memory[4096], sizeof header);
  const ibv_gid from = pair.a->gid();
  EXPECT_EQ(std::memcmp(&header.sgid, &from, sizeof from), 0);
  EXPECT_EQ(pair.a->poll().at(0).status, IBV_WC_SUCCESS);
}

TEST(FakeVerbsDatagram, VanishesAndNobodyIsTold) {
  Datagrams pair;
  ibv_send_wr stranger = pair.datagram(10);
  stranger.wr.ud.remote_qkey = 1;
  EXPECT_EQ(pair.a->post(pair.datagram(10)), 0);  // no receive
  EXPECT_TRUE(pair.fabric.run());
  EXPECT_EQ(pair.b->post_receive(4, 4096, 128), 0);
  EXPECT_EQ(pair.a->post(stranger), 0);
  EXPECT_TRUE(pair.fabric.run());
  pair.fabric.drop_datagrams(1);
  EXPECT_EQ(pair.a->post(pair.datagram(10)), 0);
  EXPECT_TRUE(pair.fabric.run());
  EXPECT_EQ(pair.a->poll().size(), 3u);
  EXPECT_TRUE(pair.b->poll().empty());
  EXPECT_EQ(pair.fabric.counters("hca0").datagrams_dropped, 3u);
  EXPECT_EQ(pair.a->post(pair.datagram(10)), 0);
  EXPECT_EQ(pair.b->poll().size(), 1u);
}

TEST(FakeVerbsDatagram, OnePacketAtMost) {
  Datagrams pair;
  EXPECT_EQ(pair.a->post(pair.datagram(4097)), 0);
  ASSERT_EQ(pair.a->poll().at(0).status, IBV_WC_LOC_LEN_ERR);
  pair.a->events();
}

TEST(FakeVerbsDatagram, OverIpv4ItHasAnIpv4Header) {
  Fabric fabric;
  fabric.add(roce("eth0", 1));
  fabric.add(roce("eth1", 2));
  EndpointOptions options = datagrams();
  options.gid_index = 3;
  Endpoint a("eth0", options), b("eth1", options);
  EXPECT_EQ(a.connect(b) + b.connect(a), 0);
  ibv_ah_attr to{};
  to.port_num = 1;
  EXPECT_EQ(ibv_create_ah(a.pd, &to), nullptr);  // Ethernet has no LIDs
  to.is_global = 1;
  to.grh.sgid_index = 3;
  to.grh.dgid = b.gid();
  ibv_ah* ah = ibv_create_ah(a.pd, &to);
  ASSERT_NE(ah, nullptr);
  ibv_send_wr wr = a.request(IBV_WR_SEND, 0, 8, b);
  wr.wr.ud = {ah, b.qp->qp_num, kQkey};
  EXPECT_EQ(b.post_receive(0, 1024, 64), 0);
  EXPECT_EQ(a.post(wr), 0);
  ASSERT_EQ(b.poll().size(), 1u);
  const unsigned char expected[] = {10, 0, 0, 1, 10, 0, 0, 2};
  EXPECT_EQ(b.memory[1024 + 20], 0x45);
  EXPECT_EQ(std::memcmp(&b.memory[1024 + 32], expected, sizeof expected), 0);
  EXPECT_EQ(ibv_destroy_ah(ah), 0);
}

TEST(FakeVerbsDatagram, OnlySends) {
  Datagrams pair;
  EXPECT_EQ(pair.a->post(pair.a->request(IBV_WR_RDMA_WRITE, 0, 8, *pair.b)), EINVAL);
}

}  // namespace
}  // namespace pinwire::fake_verbs
