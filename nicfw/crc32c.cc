// Three implementations, chosen once by what the CPU has: carry-less multiplication in 512-bit or
// 128-bit vectors (Gopal et al., "Fast CRC computation using PCLMULQDQ"), and tables. The vector
// ones fold the input, 16 bytes to a lane, until one lane is left; the CRC instruction reduces that
// lane.
#include "nicfw/crc32c.h"

#include <array>

#include "nicfw/bytes.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace pinwire {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // reflected

constexpr std::array<std::array<uint32_t, 256>, 8> make_tables() {
  std::array<std::array<uint32_t, 256>, 8> tables{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (kPolynomial & (0u - (crc & 1)));
    tables[0][i] = crc;
  }
  for (uint32_t i = 0; i < 256; ++i) {
    for (size_t t = 1; t < 8; ++t) {
      const uint32_t previous = tables[t - 1][i];
      tables[t][i] = (previous >> 8) ^ tables[0][previous & 0xff];
    }
  }
  return tables;
}
constexpr auto kTables = make_tables();

#if defined(__x86_64__)

/// x^n modulo the polynomial, as an operand of a reflected 64-bit multiplication. The product of
/// two reflected numbers comes out one power of x too high: hence n - 1.
constexpr int64_t power_operand(uint32_t n) {
  uint32_t power = 1u << 31;  // x^0
  for (uint32_t i = 1; i < n; ++i) power = (power >> 1) ^ (kPolynomial & (0u - (power & 1)));
  return static_cast<int64_t>(uint64_t{power} << 32);
}

/// What moves a lane by `bytes`: its low half, which holds the higher powers, and its high half.
template <uint32_t kBytes>
struct FoldBy {
  static constexpr int64_t kLow = power_operand(kBytes * 8 + 64);
  static constexpr int64_t kHigh = power_operand(kBytes * 8);
};

[[gnu::target("sse4.2")]] uint32_t crc32c_words(uint32_t start, const std::byte* at,
                                                size_t bytes) noexcept {
  uint64_t crc = start;
  for (; bytes >= 8; bytes -= 8, at += 8) crc = _mm_crc32_u64(crc, load_little<uint64_t>(at));
  auto tail = static_cast<uint32_t>(crc);
  for (; bytes > 0; --bytes, ++at) tail = _mm_crc32_u8(tail, std::to_integer<uint8_t>(*at));
  return tail;
}

template <uint32_t kBytes>
[[gnu::target("sse4.2,pclmul")]] inline __m128i folded(__m128i lane, __m128i next) noexcept {
  const __m128i by = _mm_set_epi64x(FoldBy<kBytes>::kHigh, FoldBy<kBytes>::kLow);
  const __m128i low = _mm_clmulepi64_si128(lane, by, 0x00);
  const __m128i high = _mm_clmulepi64_si128(lane, by, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

[[gnu::target("sse4.2,pclmul")]] inline uint32_t reduced(__m128i lane) noexcept {
  const uint64_t crc = _mm_crc32_u64(0, static_cast<uint64_t>(_mm_cvtsi128_si64(lane)));
  return static_cast<uint32_t>(
      _mm_crc32_u64(crc, static_cast<uint64_t>(_mm_extract_epi64(lane, 1))));
}

[[gnu::target("sse4.2,pclmul")]] uint32_t crc32c_128(uint32_t crc, const void* data,
                                                     size_t bytes) noexcept {
  const auto* at = static_cast<const std::byte*>(data);
  if (bytes < 128) return crc32c_words(crc, at, bytes);
  const auto load = [&at](size_t lane) __attribute__((target("sse4.2,pclmul"))) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 16 * lane));
  };
  __m128i lanes[4] = {_mm_xor_si128(load(0), _mm_cvtsi32_si128(static_cast<int>(crc))), load(1),
                      load(2), load(3)};
  for (at += 64, bytes -= 64; bytes >= 64; at += 64, bytes -= 64) {
    for (size_t i = 0; i < 4; ++i) lanes[i] = folded<64>(lanes[i], load(i));
  }
  for (size_t i = 1; i < 4; ++i) lanes[i] = folded<16>(lanes[i - 1], lanes[i]);
  return crc32c_words(reduced(lanes[3]), at, bytes);
}

template <uint32_t kBytes>
[[gnu::target("avx512f,vpclmulqdq")]] inline __m512i folded(__m512i lanes, __m512i next) noexcept {
  const __m512i by = _mm512_set_epi64(
      FoldBy<kBytes>::kHigh, FoldBy<kBytes>::kLow, FoldBy<kBytes>::kHigh, FoldBy<kBytes>::kLow,
      FoldBy<kBytes>::kHigh, FoldBy<kBytes>::kLow, FoldBy<kBytes>::kHigh, FoldBy<kBytes>::kLow);
  const __m512i low = _mm512_clmulepi64_epi128(lanes, by, 0x00);
  const __m512i high = _mm512_clmulepi64_epi128(lanes, by, 0x11);
  return _mm512_ternarylogic_epi64(low, high, next, 0x96);  // xor of three
}

[[gnu::target("avx512f,vpclmulqdq,sse4.2,pclmul")]] uint32_t crc32c_512(uint32_t crc,
                                                                        const void* data,
                                                                        size_t bytes) noexcept {
  const auto* at = static_cast<const std::byte*>(data);
  if (bytes < 512) return crc32c_128(crc, data, bytes);
  const auto load = [&at](size_t vector) __attribute__((target("avx512f"))) {
    return _mm512_loadu_si512(at + 64 * vector);
  };
  const __m512i start = _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(crc)));
  __m512i vectors[4] = {_mm512_xor_si512(load(0), start), load(1), load(2), load(3)};
  for (at += 256, bytes -= 256; bytes >= 256; at += 256, bytes -= 256) {
    for (size_t i = 0; i < 4; ++i) vectors[i] = folded<256>(vectors[i], load(i));
  }
  for (size_t i = 1; i < 4; ++i) vectors[i] = folded<64>(vectors[i - 1], vectors[i]);
  __m512i rest = vectors[3];
  for (; bytes >= 64; at += 64, bytes -= 64) rest = folded<64>(rest, load(0));
  alignas(64) __m128i lanes[4];
  _mm512_store_si512(lanes, rest);
  for (size_t i = 1; i < 4; ++i) lanes[i] = folded<16>(lanes[i - 1], lanes[i]);
  return crc32c_words(reduced(lanes[3]), at, bytes);
}
#endif

using Function = uint32_t (*)(uint32_t, const void*, size_t) noexcept;

Function chosen() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool narrow = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
  const bool wide =
      narrow && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq");
  if (wide) return crc32c_512;
  if (narrow) return crc32c_128;
#endif
  return crc32c_software;
}

const Function best = chosen();

}  // namespace

uint32_t crc32c_software(uint32_t crc, const void* data, size_t bytes) noexcept {
  const auto* at = static_cast<const std::byte*>(data);
  for (; bytes >= 8; bytes -= 8, at += 8) {
    const uint64_t word = load_little<uint64_t>(at) ^ crc;
    crc = 0;
    for (size_t i = 0; i < 8; ++i) crc ^= kTables[7 - i][(word >> (8 * i)) & 0xff];
  }
  for (; bytes > 0; --bytes, ++at) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ std::to_integer<uint32_t>(*at)) & 0xff];
  }
  return crc;
}

Crc32cFunction crc32c_variant(uint32_t index) noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool narrow = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
  if (index == 0 && narrow) return crc32c_128;
  if (index == 1 && best == crc32c_512) return crc32c_512;
#endif
  return index < 2 ? crc32c_software : nullptr;
}

uint32_t crc32c(uint32_t crc, const void* data, size_t bytes) noexcept {
  return best(crc, data, bytes);
}

}  // namespace pinwire
