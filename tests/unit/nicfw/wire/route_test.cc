#include "nicfw/wire/route.h"

#include <gtest/gtest.h>

#include "nicfw/wire/bytes.h"
#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

constexpr uint32_t kTtlAt = 22, kSourceAt = 26, kTargetAt = 30;
constexpr MacAddress kGateway = {2, 9, 9, 9, 9, 9};
constexpr uint32_t kHere = 0x0a010002;  // 10.1.0.2

Endpoint peer_at(uint32_t ipv4) { return {.mac = {2, 0, 0, 0, 0, 7}, .ipv4 = ipv4}; }

TEST(Route, WithoutAddressesAllRanksAreNeighboursThatNothingRoutes) {
  NicGroup group({});
  const uint64_t word = 5;
  ASSERT_TRUE(group.post(0, send_work(1, MessageClass::kRequest, &word, 8)));
  const std::byte* frame = group.port(1).peek().data();
  EXPECT_EQ(std::to_integer<int>(frame[kTtlAt]), 1);
  EXPECT_EQ(load_network<uint32_t>(frame + kSourceAt), 0x7f000001u);
  EXPECT_EQ(load_network<uint32_t>(frame + kTargetAt), 0x7f000002u);
  EXPECT_EQ(loopback_address((1u << 24) - 1) >> 24, 127u) << "the last rank there can be";
}

TEST(Route, ANeighbourIsReachedByItsOwnMacAddress) {
  const Endpoint self{.ipv4 = kHere};
  for (const uint32_t near : {0x0a0100ffu, 0x0a010001u}) {
    Endpoint to = peer_at(near);
    ASSERT_TRUE(
        route_to(self, {.ipv4 = kHere, .ipv4_prefix_bits = 24, .gateway_mac = kGateway}, 1, to)
            .ok());
    EXPECT_EQ(to.mac, peer_at(near).mac);
    EXPECT_EQ(to.hops_max, 1);
  }
}

TEST(Route, APeerOfAnotherNetworkIsReachedByTheGateway) {
  const Endpoint self{.ipv4 = kHere};
  Endpoint to = peer_at(0x0a010102);
  NicConfig config{.ipv4 = kHere, .ipv4_prefix_bits = 24, .gateway_mac = kGateway};
  ASSERT_TRUE(route_to(self, config, 1, to).ok());
  EXPECT_EQ(to.mac, kGateway);
  EXPECT_EQ(to.hops_max, 64);
  config.gateway_mac = {};
  to = peer_at(0x0a010102);
  const Status lost = route_to(self, config, 1, to);
  ASSERT_FALSE(lost.ok());
  for (const char* part : {"rank 1", "10.1.1.2", "10.1.0.2/24", "GASNET_DPDK_GATEWAY"})
    EXPECT_NE(lost.sentence().find(part), std::string::npos) << lost.sentence();
  config.ipv4_prefix_bits = 0;
  EXPECT_TRUE(route_to(self, config, 1, to).ok()) << "0.0.0.0/0 is everybody";
}

TEST(Route, RanksWithAndWithoutAddressesDoNotMix) {
  Endpoint given = peer_at(kHere), derived = peer_at(loopback_address(3));
  const Status one = route_to(derived, {}, 1, given);
  const Status other =
      route_to(given, {.ipv4 = kHere, .ipv4_prefix_bits = 24, .gateway_mac = kGateway}, 1, derived);
  for (const Status* status : {&one, &other}) {
    ASSERT_FALSE(status->ok());
    EXPECT_NE(status->sentence().find("GASNET_DPDK_ADDRESS"), std::string::npos);
  }
}

TEST(Route, TwoRanksWithOneAddressAreRefused) {
  ManualClock clock;
  LoopPort port(1), other(2);
  const NicConfig config{.ipv4 = kHere, .ipv4_prefix_bits = 24};
  const auto nic = make_nic(port, clock, config), twin = make_nic(other, clock, config);
  ASSERT_TRUE(nic->open({.rank = 0, .rank_count = 2}).ok());
  ASSERT_TRUE(twin->open({.rank = 1, .rank_count = 2}).ok());
  const Status twice = nic->connect(1, twin->address());
  ASSERT_FALSE(twice.ok());
  EXPECT_NE(twice.sentence().find("10.1.0.2"), std::string::npos) << twice.sentence();
}

}  // namespace
}  // namespace pinwire
