#include "nicfw/wire/frame_tag.h"

#include <gtest/gtest.h>

#include <bit>

namespace pinwire {
namespace {

TEST(FrameTag, IsSipHash13) {
  // CPython's hash of bytes is SipHash-1-3; with PYTHONHASHSEED=0 its key is zero:
  // hash(bytes(range(32))) and hash(b'\xff' * 32).
  const FrameKey key = FrameKey::from_halves(0, 0);
  EXPECT_EQ(key.tag(0x0706050403020100, 0x0f0e0d0c0b0a0908, 0x1716151413121110, 0x1f1e1d1c1b1a1918),
            0x31ef8061c910629bu);
  EXPECT_EQ(key.tag(~0ull, ~0ull, ~0ull, ~0ull), 0x0914d6b87f7d5adfu);
}

TEST(FrameTag, EveryBitOfTheInputAndTheKeyMatters) {
  const uint64_t plain = FrameKey(5, 0).tag(0, 0, 0, 0);
  for (uint32_t bit = 0; bit < 64; ++bit) {
    const uint64_t one = uint64_t{1} << bit;
    const uint64_t changed[] = {FrameKey(5, 0).tag(one, 0, 0, 0), FrameKey(5, 0).tag(0, one, 0, 0),
                                FrameKey(5, 0).tag(0, 0, one, 0), FrameKey(5, 0).tag(0, 0, 0, one),
                                FrameKey(5 ^ one, 0).tag(0, 0, 0, 0)};
    for (const uint64_t tag : changed) EXPECT_GT(std::popcount(tag ^ plain), 10);
  }
}

TEST(FrameTag, LanesAreStrangersToEachOther) {
  EXPECT_NE(FrameKey(5, 0).tag(1, 2, 3, 4), FrameKey(5, 1).tag(1, 2, 3, 4));
  // Neighbouring jobs and lanes do not meet.
  EXPECT_NE(FrameKey(5, 1).tag(1, 2, 3, 4), FrameKey(6, 0).tag(1, 2, 3, 4));
}

TEST(FrameTag, OverMemoryItIsOneConstantOfTheJobAndLane) {
  const FrameKey key = FrameKey(5, 0).over_memory();
  EXPECT_EQ(key.tag(1, 2, 3, 4), key.tag(4, 3, 2, 1));
  EXPECT_NE(key.tag(1, 2, 3, 4), 0u);
  EXPECT_NE(key.tag(1, 2, 3, 4), FrameKey(5, 1).over_memory().tag(1, 2, 3, 4));
  EXPECT_NE(key.tag(1, 2, 3, 4), FrameKey(6, 0).over_memory().tag(1, 2, 3, 4));
}

}  // namespace
}  // namespace pinwire
