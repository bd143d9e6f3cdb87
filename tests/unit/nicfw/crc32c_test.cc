#include "nicfw/crc32c.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "core/base/random.h"

namespace pinwire {
namespace {

uint32_t conventional(const std::vector<uint8_t>& data) {
  return ~crc32c(~0u, data.data(), data.size());
}

TEST(Crc32c, KnownValues) {  // RFC 3720, B.4
  std::vector<uint8_t> data(32, 0);
  EXPECT_EQ(conventional(data), 0x8a9136aau);
  data.assign(32, 0xff);
  EXPECT_EQ(conventional(data), 0x62a8ab43u);
  for (uint8_t i = 0; i < 32; ++i) data[i] = i;
  EXPECT_EQ(conventional(data), 0x46dd794eu);
  const char* digits = "123456789";
  EXPECT_EQ(~crc32c(~0u, digits, 9), 0xe3069283u);
}

TEST(Crc32c, EveryVariantAgreesWithTheTablesAtEveryLengthAndAlignment) {
  Random random(3);
  std::vector<uint8_t> data(4096 + 64);
  for (auto& byte : data) byte = static_cast<uint8_t>(random.next());
  for (uint32_t variant = 0; crc32c_variant(variant) != nullptr; ++variant) {
    const Crc32cFunction function = crc32c_variant(variant);
    for (size_t bytes = 0; bytes < 1200; ++bytes) {
      const uint8_t* at = data.data() + bytes % 64;
      ASSERT_EQ(function(77, at, bytes), crc32c_software(77, at, bytes)) << variant << " " << bytes;
    }
    EXPECT_EQ(function(1, data.data(), 4096), crc32c_software(1, data.data(), 4096));
  }
}

TEST(Crc32c, ContinuesAcrossAnyCut) {
  Random random(4);
  std::vector<uint8_t> data(1500);
  for (auto& byte : data) byte = static_cast<uint8_t>(random.next());
  const uint32_t whole = crc32c(5, data.data(), data.size());
  for (size_t cut = 0; cut <= data.size(); cut += 37) {
    EXPECT_EQ(crc32c(crc32c(5, data.data(), cut), data.data() + cut, data.size() - cut), whole);
  }
}

TEST(Crc32c, TheStartBindsTheLength) {
  const std::vector<uint8_t> zeros(64, 0);
  EXPECT_NE(crc32c(crc32c_start(32), zeros.data(), 32), crc32c(crc32c_start(33), zeros.data(), 33));
}

/// A register of zero takes zeros without a trace: four bytes that equal it bring it there.
TEST(Crc32c, ZerosCannotBeAddedWhereTheRegisterIsZero) {
  for (const uint32_t length : {4u, 8u, 64u, 1'400u}) {
    std::vector<uint8_t> data(2 * length + 16, 0);
    const uint32_t start = crc32c_start(length);
    std::memcpy(data.data(), &start, sizeof start);
    ASSERT_EQ(crc32c(start, data.data(), length), 0u);
    for (const uint32_t longer : {length + 1, length + 16, 2 * length}) {
      EXPECT_NE(crc32c(crc32c_start(longer), data.data(), longer), 0u) << longer;
    }
  }
}

}  // namespace
}  // namespace pinwire
