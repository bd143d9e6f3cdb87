#include "driver/verbs/connect/greeting.h"

#include <gtest/gtest.h>

namespace pinwire::verbs {
namespace {

constexpr uint64_t kKey = 0x123456789abcdef0;

Greeting sample_greeting() {
  return {Greeting::Kind::kAnswer, 7, 9, 3, {{0x123456, 0x654321}, 0x7f00'1234'5678, 0xdeadbeef}};
}

TEST(Greeting, ComesBackWhole) {
  for (const auto kind :
       {Greeting::Kind::kHello, Greeting::Kind::kAnswer, Greeting::Kind::kReady}) {
    Greeting sent = sample_greeting();
    sent.kind = kind;
    const auto got = decode(encode(sent, kKey), kKey);
    ASSERT_TRUE(got.has_value());
    EXPECT_EQ(got->kind, kind);
    EXPECT_EQ(got->from, sent.from);
    EXPECT_EQ(got->to, sent.to);
    EXPECT_EQ(got->lane, sent.lane);
    EXPECT_TRUE(got->ends == sent.ends);
  }
}

TEST(Greeting, OfAnotherJobIsNone) {
  EXPECT_FALSE(decode(encode(sample_greeting(), kKey), kKey + 1).has_value());
  EXPECT_FALSE(decode(encode(sample_greeting(), 0), kKey).has_value());
}

TEST(Greeting, WithAnyBitChangedIsNone) {
  for (size_t bit = 0; bit < kGreetingBytes * 8; ++bit) {
    auto bytes = encode(sample_greeting(), kKey);
    bytes[bit / 8] ^= std::byte{1} << bit % 8;
    EXPECT_FALSE(decode(bytes, kKey).has_value()) << bit;
  }
}

TEST(Greeting, OfAnyOtherLengthIsNone) {
  const auto bytes = encode(sample_greeting(), kKey);
  std::vector<std::byte> longer(bytes.begin(), bytes.end());
  longer.push_back(std::byte{0});
  EXPECT_FALSE(decode(longer, kKey).has_value());
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(decode(std::span(bytes).first(length), kKey).has_value()) << length;
  }
}

}  // namespace
}  // namespace pinwire::verbs
