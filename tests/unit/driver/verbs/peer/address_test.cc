#include "driver/verbs/peer/address.h"

#include <gtest/gtest.h>

namespace pinwire::verbs {
namespace {

Address sample_address() {
  Address address;
  address.place.mtu = 5;
  address.place.lid = 0x1234;
  address.place.datagram_queue = 0x123456;
  for (uint8_t i = 0; i < 16; ++i) address.place.gid[i] = i;
  address.is_ethernet = true;
  address.lanes = 2;
  return address;
}

/// The address of a device without datagrams, for 3 ranks.
Address sample_with_ends() {
  Address address = sample_address();
  address.place.datagram_queue = 0;
  for (uint32_t i = 0; i < 3 * 2; ++i) {
    address.ends.push_back({{100 + i, 200 + i}, uint64_t{0x7f0012345678} + i, 0xdeadbee0 + i});
  }
  return address;
}

void expect_alike(const Address& got, const Address& sent) {
  EXPECT_EQ(got.place.mtu, sent.place.mtu);
  EXPECT_EQ(got.place.lid, sent.place.lid);
  EXPECT_EQ(got.place.datagram_queue, sent.place.datagram_queue);
  EXPECT_EQ(got.place.gid, sent.place.gid);
  EXPECT_EQ(got.is_ethernet, sent.is_ethernet);
  EXPECT_EQ(got.lanes, sent.lanes);
  EXPECT_TRUE(got.ends == sent.ends);
}

TEST(Address, ComesBackWhole) {
  for (const Address& sent : {sample_address(), sample_with_ends()}) {
    auto got = decode(encode(sent), 3);
    ASSERT_TRUE(got.ok());
    expect_alike(*got, sent);
  }
}

TEST(Address, DoesNotGrowWithTheRanks) {
  EXPECT_LE(encode(sample_address()).size(), 64u);
  EXPECT_TRUE(decode(encode(sample_address()), 100'000).ok());
}

TEST(Address, OfAnyOtherLengthIsRefused) {
  for (const Address& sent : {sample_address(), sample_with_ends()}) {
    const auto bytes = encode(sent);
    for (size_t length = 0; length < bytes.size(); ++length) {
      EXPECT_FALSE(decode(std::span(bytes).first(length), 3).ok()) << length;
    }
  }
  EXPECT_FALSE(decode(encode(sample_with_ends()), 2).ok());
  EXPECT_FALSE(decode(encode(sample_with_ends()), 4).ok());
}

TEST(Address, OfAnotherVersionIsRefused) {
  auto bytes = encode(sample_address());
  bytes[0] = std::byte{99};
  auto got = decode(bytes, 3);
  ASSERT_FALSE(got.ok());
  EXPECT_NE(got.sentence().find("version 99"), std::string::npos);
}

TEST(Address, OfAbsurdlyManyLanesIsRefused) {
  auto bytes = encode(sample_address());
  bytes[8] = bytes[9] = bytes[10] = bytes[11] = std::byte{0xff};
  EXPECT_FALSE(decode(bytes, 3).ok());
}

}  // namespace
}  // namespace pinwire::verbs
