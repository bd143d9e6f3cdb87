#include "driver/verbs/address.h"

#include <gtest/gtest.h>

namespace pinwire::verbs {
namespace {

Address sample() {
  Address address;
  address.mtu = 5;
  address.is_ethernet = true;
  address.lid = 0x1234;
  address.lanes = 2;
  address.credit_key = 0xdeadbeef;
  address.credit_base = 0x7f0012345678;
  for (uint8_t i = 0; i < 16; ++i) address.gid[i] = i;
  for (uint32_t i = 0; i < 3 * 2 * kLinksPerPeer; ++i) address.queue_pairs.push_back(100 + i);
  return address;
}

TEST(Address, ComesBackWhole) {
  const Address sent = sample();
  auto got = decode(encode(sent), 3);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->mtu, sent.mtu);
  EXPECT_EQ(got->is_ethernet, sent.is_ethernet);
  EXPECT_EQ(got->lid, sent.lid);
  EXPECT_EQ(got->lanes, sent.lanes);
  EXPECT_EQ(got->credit_key, sent.credit_key);
  EXPECT_EQ(got->credit_base, sent.credit_base);
  EXPECT_EQ(got->gid, sent.gid);
  EXPECT_EQ(got->queue_pairs, sent.queue_pairs);
}

TEST(Address, OfAnyOtherLengthIsRefused) {
  const auto bytes = encode(sample());
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(decode(std::span(bytes).first(length), 3).ok()) << length;
  }
  EXPECT_FALSE(decode(bytes, 2).ok());
  EXPECT_FALSE(decode(bytes, 4).ok());
}

TEST(Address, OfAnotherVersionIsRefused) {
  auto bytes = encode(sample());
  bytes[0] = std::byte{99};
  auto got = decode(bytes, 3);
  ASSERT_FALSE(got.ok());
  EXPECT_NE(got.sentence().find("version 99"), std::string::npos);
}

TEST(Address, OfAbsurdlyManyLanesIsRefused) {
  auto bytes = encode(sample());
  bytes[8] = bytes[9] = bytes[10] = bytes[11] = std::byte{0xff};
  EXPECT_FALSE(decode(bytes, 3).ok());
}

}  // namespace
}  // namespace pinwire::verbs
