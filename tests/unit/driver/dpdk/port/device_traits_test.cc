#include "driver/dpdk/port/device_traits.h"

#include <gtest/gtest.h>

namespace pinwire {
namespace {

TEST(DeviceArgument, FindsWholeKeysOnly) {
  EXPECT_EQ(device_argument("iface=/x,queues=2", "queues"), "2");
  EXPECT_EQ(device_argument("iface=/x,queues=2", "iface"), "/x");
  EXPECT_EQ(device_argument("xbsize=1,bsize=9030", "bsize"), "9030");
  EXPECT_EQ(device_argument("bsize", "bsize"), "");
  EXPECT_EQ(device_argument("", "bsize"), "");
}

TEST(DeviceTraits, VirtioStopsWhereItWouldChain) {
  EXPECT_EQ(device_traits({.driver = "net_virtio_user", .mtu_max = 65535}).frame_bytes_max, 9712u);
  EXPECT_EQ(device_traits({.driver = "net_virtio_user", .mtu_max = 1500}).frame_bytes_max, 1514u);
  EXPECT_EQ(device_traits({.driver = "net_vhost", .mtu_max = 65535}).frame_bytes_max, 9712u);
}

TEST(DeviceTraits, MemifCarriesItsBufferSizeWhateverItSays) {
  EXPECT_EQ(
      device_traits({.driver = "net_memif", .arguments = "role=server,bsize=9030"}).frame_bytes_max,
      9030u);
  EXPECT_EQ(device_traits({.driver = "net_memif", .arguments = "role=server"}).frame_bytes_max,
            2048u);
  EXPECT_FALSE(device_traits({.driver = "net_memif"}).takes_mtu);
  EXPECT_TRUE(device_traits({.driver = "net_memif"}).restarts_link);
}

TEST(DeviceTraits, AfPacketIsBoundBySlotAndInterface) {
  EXPECT_EQ(device_traits(
                {.driver = "net_af_packet", .arguments = "framesz=16384", .interface_mtu = 9000})
                .frame_bytes_max,
            9014u);
  EXPECT_EQ(
      device_traits({.driver = "net_af_packet", .arguments = "framesz=2048", .interface_mtu = 9000})
          .frame_bytes_max,
      1952u);
  EXPECT_EQ(
      device_traits({.driver = "net_af_packet", .arguments = "framesz=16384"}).frame_bytes_max,
      1514u);
}

TEST(DeviceTraits, BodiesInPlaceOnlyWhereTheDeviceReachesThem) {
  EXPECT_EQ(device_traits({.driver = "net_vhost", .multi_segment_tx = true}).body_path,
            BodyPath::kCpu);
  EXPECT_EQ(device_traits({.driver = "net_virtio_user", .multi_segment_tx = true}).body_path,
            BodyPath::kCopy);
  EXPECT_EQ(device_traits({.driver = "net_memif", .multi_segment_tx = true}).body_path,
            BodyPath::kCopy);
  EXPECT_EQ(device_traits({.driver = "net_ixgbe", .multi_segment_tx = true}).body_path,
            BodyPath::kMapped);
  EXPECT_EQ(device_traits({.driver = "net_ixgbe", .multi_segment_tx = true, .iova_is_va = false})
                .body_path,
            BodyPath::kCopy);
  EXPECT_EQ(device_traits({.driver = "net_ixgbe"}).body_path, BodyPath::kCopy);
  EXPECT_EQ(device_traits({.driver = "net_tap", .multi_segment_tx = true}).body_path,
            BodyPath::kCopy);
}

TEST(DeviceTraits, DevicesThatTheKernelUsesTooAreIsolated) {
  EXPECT_TRUE(device_traits({.driver = "mlx5_pci"}).shares_with_kernel);
  EXPECT_TRUE(device_traits({.driver = "net_mlx4"}).shares_with_kernel);
  EXPECT_TRUE(
      device_traits({.driver = "net_tap", .arguments = "iface=t,remote=eth0"}).shares_with_kernel);
  EXPECT_FALSE(device_traits({.driver = "net_tap", .arguments = "iface=t"}).shares_with_kernel);
  EXPECT_FALSE(device_traits({.driver = "net_ixgbe"}).shares_with_kernel);
  EXPECT_TRUE(device_traits({.driver = "net_tap"}).isolates_with_queues);
  EXPECT_FALSE(device_traits({.driver = "mlx5_pci"}).isolates_with_queues);
}

TEST(DeviceTraits, TheOldestGigabitNicsWantPowersOfTwoAndDoNotWake) {
  EXPECT_TRUE(device_traits({.driver = "net_e1000_em"}).power_of_two_buffers);
  EXPECT_FALSE(device_traits({.driver = "net_e1000_em"}).wakes);
  EXPECT_FALSE(device_traits({.driver = "net_e1000_igb"}).power_of_two_buffers);
  EXPECT_TRUE(device_traits({.driver = "net_e1000_igb"}).wakes);
}

}  // namespace
}  // namespace pinwire
