#include "driver/dpdk/ip/addressing.h"

#include <gtest/gtest.h>

namespace pinwire {
namespace {

TEST(PortAddress, IsOneOfAListOrTheOnly) {
  EXPECT_EQ(port_address("", 0, 2, 0)->ipv4, 0u);
  EXPECT_EQ(port_address("10.1.0.2/24", 1, 2, 0)->ipv4, 0x0a010002u);
  EXPECT_EQ(port_address("10.1.0.2/24", 1, 2, 0)->prefix_bits, 24u);
  EXPECT_EQ(port_address("10.1.0.2/24,10.2.0.2/16", 1, 2, 0)->ipv4, 0x0a020002u);
  EXPECT_EQ(port_address("10.1.0.2/24,10.2.0.2/16", 1, 2, 0)->prefix_bits, 16u);
  EXPECT_EQ(port_address("10.1.0.0/31", 0, 1, 0)->ipv4, 0x0a010000u) << "RFC 3021";
}

TEST(PortAddress, ThatNamesNoHostIsRefused) {
  for (const char* bad : {"10.1.0.2", "10.1.0.2/", "10.1.0.2/0", "10.1.0.2/33", "10.1.0.2/24x",
                          "10.1.0/24", "10.1.0.0/24", "10.1.0.255/24", "127.0.0.1/8",
                          "224.0.0.1/24", "0.1.2.3/8", "fe80::1/64", "here"}) {
    auto address = port_address(bad, 0, 1, 0);
    ASSERT_FALSE(address.ok()) << bad;
    EXPECT_NE(address.sentence().find(bad), std::string::npos) << address.sentence();
    EXPECT_NE(address.sentence().find("GASNET_DPDK_ADDRESS"), std::string::npos);
  }
  auto few = port_address("10.1.0.2/24,10.1.0.3/24", 0, 3, 0);
  ASSERT_FALSE(few.ok());
  EXPECT_NE(few.sentence().find("2 addresses for 3 ranks"), std::string::npos) << few.sentence();
  auto none = port_address("interface", 0, 1, 0);
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.sentence().find("no interface"), std::string::npos) << none.sentence();
}

TEST(Gateway, IsANeighbourOrAMacAddress) {
  const PortAddress self{0x0a010002, 24};
  EXPECT_EQ(gateway_of("", self)->ipv4, 0u);
  EXPECT_EQ(gateway_of("10.1.0.1", self)->ipv4, 0x0a010001u);
  const MacAddress mac = {2, 0, 0, 0, 0, 0xab};
  EXPECT_EQ(gateway_of("02:00:00:00:00:aB", self)->mac, mac);
  EXPECT_EQ(gateway_of("02:00:00:00:00:ab", self)->ipv4, 0u);
  for (const char* bad : {"10.2.0.1", "10.1.0.2", "router", "02:00:00:00:00", "03:00:00:00:00:01",
                          "02:00:00:00:00:01:02", "00:00:00:00:00:00"}) {
    auto gateway = gateway_of(bad, self);
    ASSERT_FALSE(gateway.ok()) << bad;
    EXPECT_NE(gateway.sentence().find(bad), std::string::npos) << gateway.sentence();
    EXPECT_NE(gateway.sentence().find("GASNET_DPDK_GATEWAY"), std::string::npos);
  }
  auto alone = gateway_of("10.1.0.1", {});
  ASSERT_FALSE(alone.ok());
  EXPECT_NE(alone.sentence().find("set GASNET_DPDK_ADDRESS"), std::string::npos);
}

}  // namespace
}  // namespace pinwire
