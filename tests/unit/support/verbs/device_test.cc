// Devices as a program finds them.
#include <cerrno>

#include "tests/unit/support/verbs/endpoint.h"

namespace pinwire::fake_verbs {
namespace {

TEST(FakeVerbsDevice, WithoutAFabricThereIsNoRdma) {
  int count = 7;
  errno = 0;
  EXPECT_EQ(ibv_get_device_list(&count), nullptr);
  EXPECT_EQ(errno, ENOSYS);
  EXPECT_EQ(count, 0);
}

TEST(FakeVerbsDevice, ListEndsWithNull) {
  Fabric fabric;
  fabric.add(infiniband("mlx5_0", 4));
  fabric.add(roce("mlx5_1", 9));
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  ASSERT_EQ(count, 2);
  EXPECT_STREQ(ibv_get_device_name(list[0]), "mlx5_0");
  EXPECT_STREQ(ibv_get_device_name(list[1]), "mlx5_1");
  EXPECT_EQ(list[2], nullptr);
  ibv_free_device_list(list);
}

TEST(FakeVerbsDevice, PortsSayWhatTheyAre) {
  Fabric fabric;
  fabric.add(infiniband("ib", 4));
  fabric.add(roce("eth", 9));
  ibv_context* ib = open_by_name("ib");
  ibv_context* eth = open_by_name("eth");
  ibv_port_attr port{};
  ASSERT_EQ(ibv_query_port(ib, 1, &port), 0);
  EXPECT_EQ(port.lid, 4);
  EXPECT_EQ(port.link_layer, IBV_LINK_LAYER_INFINIBAND);
  EXPECT_STREQ(ibv_port_state_str(port.state), "ACTIVE");
  ASSERT_EQ(ibv_query_port(eth, 1, &port), 0);
  EXPECT_EQ(port.link_layer, IBV_LINK_LAYER_ETHERNET);
  EXPECT_EQ(port.gid_tbl_len, 4);
  EXPECT_EQ(ibv_query_port(eth, 2, &port), EINVAL);
  ibv_device_attr limits{};
  ASSERT_EQ(ibv_query_device(eth, &limits), 0);
  EXPECT_EQ(limits.phys_port_cnt, 1);
  ibv_device_attr_ex extended{};
  ASSERT_EQ(ibv_query_device_ex(eth, nullptr, &extended), 0);
  EXPECT_EQ(extended.orig_attr.max_qp, limits.max_qp);
  EXPECT_EQ(ibv_close_device(ib), 0);
  EXPECT_EQ(ibv_close_device(eth), 0);
}

TEST(FakeVerbsDevice, GidsHaveTypesAndHoles) {
  Fabric fabric;
  HcaSpec spec = roce("eth", 9);
  spec.ports[0].gids[1] = {};
  fabric.add(spec);
  ibv_context* context = open_by_name("eth");
  ibv_gid_entry entry{};
  ASSERT_EQ(ibv_query_gid_ex(context, 1, 3, &entry, 0), 0);
  EXPECT_EQ(entry.gid_type, IBV_GID_TYPE_ROCE_V2);
  EXPECT_EQ(entry.gid.raw[15], 9);
  EXPECT_EQ(entry.gid.raw[10], 0xff);
  EXPECT_EQ(ibv_query_gid_ex(context, 1, 1, &entry, 0), ENODATA);
  EXPECT_EQ(ibv_query_gid_ex(context, 1, 4, &entry, 0), EINVAL);
  ibv_gid_entry table[4];
  ASSERT_EQ(ibv_query_gid_table(context, table, 4, 0), 3);
  EXPECT_EQ(table[1].gid_index, 2u);
  __be16 pkey = 0;
  EXPECT_EQ(ibv_query_pkey(context, 1, 0, &pkey), 0);
  EXPECT_EQ(pkey, 0xffff);
  EXPECT_EQ(ibv_close_device(context), 0);
}

TEST(FakeVerbsDevice, CallsFailWhenTheyAreTold) {
  Fabric fabric;
  fabric.add(infiniband("ib", 1));
  fabric.fail(Call::kOpenDevice, EACCES);
  errno = 0;
  EXPECT_EQ(open_by_name("ib"), nullptr);
  EXPECT_EQ(errno, EACCES);
  ibv_context* context = open_by_name("ib");
  ASSERT_NE(context, nullptr);
  fabric.fail(Call::kAllocPd, ENOMEM, 2);
  ibv_pd* first = ibv_alloc_pd(context);
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(ibv_alloc_pd(context), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(ibv_dealloc_pd(first), 0);
  EXPECT_EQ(ibv_close_device(context), 0);
}

TEST(FakeVerbsDevice, EventsTellOfPortsAndOfTheEnd) {
  Pair pair;
  pair.fabric.set_port_state("hca0", 1, IBV_PORT_DOWN);
  pair.fabric.set_port_state("hca0", 1, IBV_PORT_ACTIVE);
  EXPECT_EQ(pair.a->events(),
            (std::vector<ibv_event_type>{IBV_EVENT_PORT_ERR, IBV_EVENT_PORT_ACTIVE}));
  EXPECT_TRUE(pair.b->events().empty());
  pair.fabric.device_fatal("hca1");
  EXPECT_EQ(pair.b->events().front(), IBV_EVENT_DEVICE_FATAL);
  EXPECT_EQ(ibv_alloc_pd(pair.b->context), nullptr);
  EXPECT_EQ(errno, EIO);
}

}  // namespace
}  // namespace pinwire::fake_verbs
