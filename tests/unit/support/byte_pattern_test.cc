// The pattern of the tests' payloads, on which every test of data relies.
#include "tests/support/byte_pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace pinwire {
namespace {

constexpr size_t kBytes = 1 << 22;

TEST(BytePattern, SwappedBlocksAreNoticed) {
  std::vector<unsigned char> bytes(kBytes);
  fill_pattern(bytes.data(), kBytes, 7);
  ASSERT_TRUE(holds_pattern(bytes.data(), kBytes, 7));
  for (size_t block = 64; block < kBytes; block *= 2) {
    const auto second = bytes.begin() + static_cast<ptrdiff_t>(block);
    std::swap_ranges(bytes.begin(), second, second);
    EXPECT_FALSE(holds_pattern(bytes.data(), 2 * block, 7)) << block;
    std::swap_ranges(bytes.begin(), second, second);
  }
}

TEST(BytePattern, EverySeedGivesOtherBytes) {
  unsigned char bytes[16];
  for (unsigned shift = 0; shift < 32; ++shift) {
    fill_pattern(bytes, sizeof bytes, 5 ^ 1u << shift);
    EXPECT_FALSE(holds_pattern(bytes, sizeof bytes, 5)) << shift;
  }
}

}  // namespace
}  // namespace pinwire
