#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "gasnet_tools.h"

namespace {

std::string formatted(int64_t value, int is_memory) {
  char text[64];
  EXPECT_EQ(gasnett_format_number(value, text, sizeof text, is_memory), text);
  return text;
}

TEST(Numbers, AreFormattedForPeople) {
  EXPECT_EQ(formatted(0, 1), "0 B");
  EXPECT_EQ(formatted(1023, 1), "1023 B");
  EXPECT_EQ(formatted(64 << 20, 1), "64 MB");
  EXPECT_EQ(formatted(-2048, 1), "-2 KB");
  EXPECT_EQ(formatted(-42, 0), "-42");
}

TEST(Numbers, AreReadBackExactly) {
  for (int bit = 0; bit < 63; ++bit) {
    for (int64_t value : {int64_t{1} << bit, -(int64_t{1} << bit), (int64_t{1} << bit) - 1}) {
      EXPECT_EQ(gasnett_parse_int(formatted(value, 1).c_str(), 1), value);
      EXPECT_EQ(gasnett_parse_int(formatted(value, 0).c_str(), 0), value);
    }
  }
}

TEST(Numbers, UnitCountsWhereNoSuffixIs) {
  EXPECT_EQ(gasnett_parse_int("3", 1024), 3072);
  EXPECT_EQ(gasnett_parse_int("3B", 1024), 3);
  EXPECT_EQ(gasnett_parse_int("0.5", 1 << 20), 512 << 10);
  EXPECT_EQ(gasnett_parse_int("0x10", 0), 16);
}

TEST(Numbers, NonsenseEndsTheProgram) {
  EXPECT_DEATH(gasnett_parse_int("12 apples", 0), "\"12 apples\" is no whole number");
  EXPECT_DEATH(gasnett_parse_int("12 apples", 1), "\"12 apples\" is no memory size");
  EXPECT_DEATH(gasnett_parse_int("99999999T", 1), "memory size");
}

}  // namespace
