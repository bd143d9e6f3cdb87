#include "nicfw/wire/body_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/random.h"

namespace pinwire {
namespace {

constexpr uint64_t kPoint = 0x0123456789abcdef;

/// The product in the field, bit by bit.
uint64_t slow_product(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  for (uint32_t bit = 64; bit-- > 0;) {
    product = product << 1 ^ (product >> 63 ? 0x1b : 0);
    if (b >> bit & 1) product ^= a;
  }
  return product;
}

uint64_t slow_hash(uint64_t point, uint32_t context, const uint8_t* data, size_t bytes) {
  uint64_t hash = slow_product(bytes | uint64_t{context} << 32, point);
  for (size_t at = 0; at < bytes; at += 8) {
    uint64_t word = 0;
    for (size_t i = at; i < std::min(at + 8, bytes); ++i) {
      word |= uint64_t{data[i]} << (8 * (i - at));
    }
    hash = slow_product(hash ^ word, point);
  }
  return hash;
}

std::vector<uint8_t> random_bytes(size_t count) {
  Random random(3);
  std::vector<uint8_t> data(count);
  for (auto& byte : data) byte = static_cast<uint8_t>(random.next());
  return data;
}

TEST(BodyHash, EveryVariantIsThePolynomialAtEveryLengthAndAlignment) {
  const BodyHash hash(kPoint);
  const auto data = random_bytes(9000 + 64);
  const auto lengths_after = [](size_t bytes) { return bytes < 1100 ? bytes + 1 : bytes + 397; };
  for (uint32_t v = 0; BodyHash::variant(v) != nullptr; ++v) {
    for (size_t bytes = 0; bytes < 9000; bytes = lengths_after(bytes)) {
      const uint8_t* at = data.data() + bytes * 7 % 64;
      const uint64_t first = BodyHash::first_word(5, bytes);
      ASSERT_EQ(BodyHash::variant(v)->hash(hash.powers(), first, nullptr,
                                           reinterpret_cast<const std::byte*>(at), bytes),
                slow_hash(kPoint, 5, at, bytes))
          << "variant " << v << ", " << bytes << " bytes";
    }
  }
}

/// The tests of every variant see only those that are found, and frames are hashed by the last one.
TEST(BodyHash, AVariantIsThereForTheVectorsOfThisCpu) {
  uint32_t found = 0;
  while (BodyHash::variant(found) != nullptr) ++found;
  uint32_t wanted = 1;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool has_clmul = __builtin_cpu_supports("pclmul");
  const bool has_wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq");
  if (has_clmul) wanted = has_wide ? 3 : 2;
#endif
  EXPECT_EQ(found, wanted);
}

TEST(BodyHash, EveryVariantCopiesWhatItHashesAndNothingElse) {
  const BodyHash hash(kPoint);
  const auto data = random_bytes(1200 + 64);
  for (uint32_t v = 0; BodyHash::variant(v) != nullptr; ++v) {
    for (size_t bytes = 0; bytes < 1200; ++bytes) {
      const uint8_t* from = data.data() + bytes * 5 % 64;
      std::vector<uint8_t> target(bytes + 128, 0xcc);
      const size_t at = bytes * 3 % 64;
      const uint64_t first = BodyHash::first_word(0, bytes);
      ASSERT_EQ(BodyHash::variant(v)->copy(hash.powers(), first,
                                           reinterpret_cast<std::byte*>(target.data() + at),
                                           reinterpret_cast<const std::byte*>(from), bytes),
                slow_hash(kPoint, 0, from, bytes))
          << "variant " << v << ", " << bytes << " bytes";
      std::vector<uint8_t> wanted(bytes + 128, 0xcc);
      if (bytes != 0) std::memcpy(wanted.data() + at, from, bytes);
      ASSERT_EQ(target, wanted) << "variant " << v << ", " << bytes << " bytes";
      target.assign(bytes + 128, 0xcc);
      BodyHash::variant(v)->plain(reinterpret_cast<std::byte*>(target.data() + at),
                                  reinterpret_cast<const std::byte*>(from), bytes);
      ASSERT_EQ(target, wanted) << "variant " << v << ", " << bytes << " bytes";
    }
  }
}

TEST(BodyHash, OfFixedWordsIsThePolynomialOfThem) {
  const BodyHash hash(kPoint);
  Random random(9);
  for (uint32_t trial = 0; trial < 100; ++trial) {
    uint64_t words[BodyHash::kFixedWords];
    uint64_t expected = 0;
    for (uint64_t& word : words) {
      word = random.next();
      expected = slow_product(expected ^ word, kPoint);
    }
    ASSERT_EQ(hash.of_words(words), expected);
  }
}

TEST(BodyHash, TheLengthIsBoundToIt) {
  const BodyHash hash(kPoint);
  const std::vector<uint8_t> zeros(2048, 0);
  std::vector<uint64_t> seen;
  for (size_t bytes = 0; bytes <= zeros.size(); ++bytes) {
    seen.push_back(hash.of(0, zeros.data(), bytes));
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
  EXPECT_NE(hash.of(0, zeros.data(), 16), hash.of(1, zeros.data(), 16));
}

/// Over GF(2) the sum of two hashes of one length must depend on the point, or it could be forged.
TEST(BodyHash, TheDifferenceOfTwoHashesDependsOnTheSecret) {
  auto data = random_bytes(64);
  auto altered = data;
  altered.back() ^= 1;
  const auto difference = [&](uint64_t point) {
    const BodyHash hash(point);
    return hash.of(0, data.data(), 64) ^ hash.of(0, altered.data(), 64);
  };
  EXPECT_NE(difference(kPoint), difference(kPoint + 2));
  EXPECT_NE(difference(kPoint), uint64_t{1} << 56);
}

TEST(BodyHash, EveryBitMatters) {
  const BodyHash hash(kPoint);
  auto data = random_bytes(300);
  const uint64_t plain = hash.of(0, data.data(), data.size());
  for (size_t bit = 0; bit < data.size() * 8; ++bit) {
    data[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
    EXPECT_NE(hash.of(0, data.data(), data.size()), plain) << bit;
    data[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
  }
}

TEST(BodyHash, WithoutAPointNothingIsHashedAndEverythingCopied) {
  const BodyHash none;
  EXPECT_EQ(none.of_words({1, 2, 3, 4, 5}), 0u);
  const auto data = random_bytes(300);
  EXPECT_EQ(none.of(3, data.data(), 300), 0u);
  std::vector<uint8_t> target(300);
  EXPECT_EQ(none.copy(3, target.data(), data.data(), 300), 0u);
  EXPECT_EQ(target, data);
}

}  // namespace
}  // namespace pinwire
