#include "core/config/number.h"

#include <gtest/gtest.h>

namespace pinwire {
namespace {

TEST(Number, YesAndNo) {
  for (const char* yes : {"1", "y", "Y", "yes", "YES", "true", "on", " yes "})
    EXPECT_EQ(parse_yes_no(yes), true) << yes;
  for (const char* no : {"0", "n", "No", "false", "OFF"}) EXPECT_EQ(parse_yes_no(no), false) << no;
  for (const char* other : {"", "2", "yep", "y e s", "-1"})
    EXPECT_EQ(parse_yes_no(other), std::nullopt) << other;
}

TEST(Number, Whole) {
  EXPECT_EQ(parse_whole("42"), 42);
  EXPECT_EQ(parse_whole(" -7 "), -7);
  EXPECT_EQ(parse_whole("0x1F"), 31);
  for (const char* bad : {"", "x", "4x", "1.5", "0x", "0x-1", "99999999999999999999", "1 2"})
    EXPECT_EQ(parse_whole(bad), std::nullopt) << bad;
}

TEST(Number, Real) {
  EXPECT_EQ(parse_real("2.5"), 2.5);
  EXPECT_EQ(parse_real("10"), 10.0);
  EXPECT_EQ(parse_real("3/8"), 0.375);
  for (const char* bad : {"", "nan", "inf", "2.5s", "1..2", "1/0", "1/", "/2", "1/2/3"})
    EXPECT_EQ(parse_real(bad), std::nullopt) << bad;
}

TEST(Number, Bytes) {
  EXPECT_EQ(parse_bytes("4096"), 4096U);
  EXPECT_EQ(parse_bytes("0x1000"), 4096U);
  EXPECT_EQ(parse_bytes("4K"), 4096U);
  EXPECT_EQ(parse_bytes("4 kb"), 4096U);
  EXPECT_EQ(parse_bytes("128.0MB"), 128ULL << 20);
  EXPECT_EQ(parse_bytes("1.5GB"), 3ULL << 29);
  EXPECT_EQ(parse_bytes("2T"), 2ULL << 40);
  EXPECT_EQ(parse_bytes("8388607 TB"), 8388607ULL << 40);
  EXPECT_EQ(parse_bytes("3", 1024), 3072U);
  EXPECT_EQ(parse_bytes("3B", 1024), 3U);
  for (const char* bad : {"", "-1", "-1K", "K", "4KK", "4Kib", "4P", "1e300T", "99999999T", "four"})
    EXPECT_EQ(parse_bytes(bad), std::nullopt) << bad;
}

TEST(Number, MemoryBounds) {
  EXPECT_EQ(parse_memory_bound("128.0MB/P"), (MemoryBound{false, 0, 128ULL << 20}));
  EXPECT_EQ(parse_memory_bound("1GB/H"), (MemoryBound{true, 0, 1ULL << 30}));
  EXPECT_EQ(parse_memory_bound("0.5/H"), (MemoryBound{true, 0.5, 0}));
  EXPECT_EQ(parse_memory_bound("0.25 / p"), (MemoryBound{false, 0.25, 0}));
  // Without a suffix as with P, and the slash may be left out.
  EXPECT_EQ(parse_memory_bound("0.85"), (MemoryBound{false, 0.85, 0}));
  EXPECT_EQ(parse_memory_bound("64M"), (MemoryBound{false, 0, 64ULL << 20}));
  EXPECT_EQ(parse_memory_bound("64Mh"), (MemoryBound{true, 0, 64ULL << 20}));
  EXPECT_EQ(parse_memory_bound("1/4 H"), (MemoryBound{true, 0.25, 0}));
  for (const char* bad : {"", "/P", "P", "1G/X", "1G/", "1G/P/H", "half", "-0.5/H"})
    EXPECT_EQ(parse_memory_bound(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace pinwire
