#include "bench/flood/words/text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pinwire::flood {
namespace {

TEST(Text, ThreeSignificantDigits) {
  EXPECT_EQ(significant(0), "0");
  EXPECT_EQ(significant(0.0016341), "0.00163");
  EXPECT_EQ(significant(12.3456), "12.3");
  EXPECT_EQ(significant(-0.25), "-0.250");
  EXPECT_EQ(significant(9.996), "10.0");
  EXPECT_EQ(significant(0.09996), "0.100");
  EXPECT_EQ(significant(30123456.7), "30123457");
  EXPECT_EQ(significant(std::nan("")), "-");
}

TEST(Text, BytesAreExact) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1024), "1 KiB");
  EXPECT_EQ(bytes_text(5000), "5000 B");
  EXPECT_EQ(bytes_text(4u << 20), "4 MiB");
}

TEST(Text, ParseBytes) {
  uint64_t bytes = 99;
  EXPECT_TRUE(parse_bytes("0", bytes));
  EXPECT_EQ(bytes, 0u);
  EXPECT_TRUE(parse_bytes("64K", bytes));
  EXPECT_EQ(bytes, 65536u);
  EXPECT_TRUE(parse_bytes("4m", bytes));
  EXPECT_EQ(bytes, 4u << 20);
  for (const char* bad :
       {"", "K", "-1", "1x", "1 K", "99999999999999999999", "99999999999999999G"}) {
    EXPECT_FALSE(parse_bytes(bad, bytes)) << bad;
  }
  EXPECT_EQ(bytes, 4u << 20) << "a refused word changes nothing";
}

}  // namespace
}  // namespace pinwire::flood
