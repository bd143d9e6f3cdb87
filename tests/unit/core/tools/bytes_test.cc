#include <gtest/gtest.h>

#include <cstring>

#include "gasnet_tools.h"

namespace {

TEST(Bytes, CountsZerosOfIntegers) {
  EXPECT_EQ(gasnett_count0s_uint32_t(0), 4);
  EXPECT_EQ(gasnett_count0s_uint64_t(0), 8);
  EXPECT_EQ(gasnett_count0s_uintptr_t(0), 8);
  for (int bit = 0; bit < 64; ++bit) {
    EXPECT_EQ(gasnett_count0s_uint64_t(uint64_t{1} << bit), 7) << bit;
    if (bit < 32) {
      EXPECT_EQ(gasnett_count0s_uint32_t(uint32_t{1} << bit), 3) << bit;
    }
  }
  EXPECT_EQ(gasnett_count0s_uint64_t(0x0100ff8000000180), 3);
}

TEST(Bytes, CountsZerosAtEveryAlignmentAndLength) {
  unsigned char from[64], to[64];
  for (size_t i = 0; i < sizeof from; ++i) from[i] = i % 3 == 0 ? 0 : static_cast<unsigned char>(i);
  for (size_t start = 0; start < 8; ++start) {
    for (size_t bytes = 0; bytes < 48; ++bytes) {
      size_t zeros = 0;
      for (size_t i = 0; i < bytes; ++i) zeros += from[start + i] == 0;
      EXPECT_EQ(gasnett_count0s(from + start, bytes), zeros);
      std::memset(to, 0xee, sizeof to);
      EXPECT_EQ(gasnett_count0s_copy(to + 8 - start, from + start, bytes), zeros);
      EXPECT_EQ(std::memcmp(to + 8 - start, from + start, bytes), 0);
      EXPECT_EQ(to[7 - start], 0xee);
      EXPECT_EQ(to[8 - start + bytes], 0xee);
    }
  }
}

TEST(Bytes, ChecksumTellsBytesAndPlacesApart) {
  char text[32] = "the quick brown fox jumps over";
  const uint64_t sum = gasnett_checksum(text, 31);
  EXPECT_EQ(gasnett_checksum(text, 31), sum);
  EXPECT_NE(gasnett_checksum(text, 30), sum);
  for (int i = 0; i + 1 < 30; ++i) {
    if (text[i] == text[i + 1]) continue;
    std::swap(text[i], text[i + 1]);
    EXPECT_NE(gasnett_checksum(text, 31), sum) << i;
    std::swap(text[i], text[i + 1]);
  }
}

}  // namespace
