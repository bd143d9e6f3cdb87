#include "nicfw/crc32c.h"

#include <array>

#include "nicfw/bytes.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
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
// The instruction takes 3 cycles but a new one can start each cycle: long inputs run as three
// streams that are joined by advancing a CRC over kStreamBytes of zeros, with a table per byte of
// the CRC.
constexpr size_t kStreamBytes = 256;

constexpr uint32_t multiply(uint32_t a,
                            uint32_t b) {  // in GF(2)[x] modulo the polynomial, reflected
  uint32_t product = 0;
  for (uint32_t mask = 1u << 31; mask != 0; mask >>= 1) {
    if (a & mask) product ^= b;
    b = (b >> 1) ^ (kPolynomial & (0u - (b & 1)));
  }
  return product;
}

constexpr std::array<std::array<uint32_t, 256>, 4> make_advance(size_t zero_bytes) {
  uint32_t power = 1u << 31;  // x^0
  for (size_t i = 0; i < zero_bytes * 8; ++i) {
    power = (power >> 1) ^ (kPolynomial & (0u - (power & 1)));
  }
  std::array<std::array<uint32_t, 256>, 4> tables{};
  for (uint32_t byte = 0; byte < 4; ++byte) {
    for (uint32_t bit = 0; bit < 8; ++bit) {
      tables[byte][1u << bit] = multiply(1u << (byte * 8 + bit), power);
    }
    for (uint32_t i = 1; i < 256; ++i) {
      tables[byte][i] = tables[byte][i & (i - 1)] ^ tables[byte][i & (0u - i)];
    }
  }
  return tables;
}
constexpr auto kAdvance = make_advance(kStreamBytes);

uint64_t advanced(uint64_t crc) noexcept {
  return kAdvance[0][crc & 0xff] ^ kAdvance[1][(crc >> 8) & 0xff] ^
         kAdvance[2][(crc >> 16) & 0xff] ^ kAdvance[3][(crc >> 24) & 0xff];
}

[[gnu::target("sse4.2")]] uint32_t crc32c_sse42(uint32_t start, const void* data,
                                                size_t bytes) noexcept {
  const auto* at = static_cast<const std::byte*>(data);
  uint64_t crc = start;
  for (; bytes >= 3 * kStreamBytes; bytes -= 3 * kStreamBytes, at += 3 * kStreamBytes) {
    uint64_t second = 0;
    uint64_t third = 0;
    for (size_t i = 0; i < kStreamBytes; i += 8) {
      crc = _mm_crc32_u64(crc, load_little<uint64_t>(at + i));
      second = _mm_crc32_u64(second, load_little<uint64_t>(at + kStreamBytes + i));
      third = _mm_crc32_u64(third, load_little<uint64_t>(at + 2 * kStreamBytes + i));
    }
    crc = advanced(advanced(crc) ^ second) ^ third;
  }
  for (; bytes >= 8; bytes -= 8, at += 8) crc = _mm_crc32_u64(crc, load_little<uint64_t>(at));
  auto tail = static_cast<uint32_t>(crc);
  for (; bytes > 0; --bytes, ++at) tail = _mm_crc32_u8(tail, std::to_integer<uint8_t>(*at));
  return tail;
}
#endif

using Function = uint32_t (*)(uint32_t, const void*, size_t) noexcept;

Function chosen() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("sse4.2")) return crc32c_sse42;
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

uint32_t crc32c(uint32_t crc, const void* data, size_t bytes) noexcept {
  return best(crc, data, bytes);
}

}  // namespace pinwire
