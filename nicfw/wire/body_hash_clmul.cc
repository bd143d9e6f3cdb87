// A state of 128 bits stands for a number of the field that is not reduced yet: multiplied by H^n
// it is low * H^n + high * (x^64 H^n), two products. All others are of a word and a power of H, and
// independent of each other. In a vector of four states their sum is the state.
#include "nicfw/wire/body_hash_clmul.h"

#include "nicfw/wire/bytes.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace pinwire {
namespace {

constexpr uint32_t kPowers = HashPowers::kCount;
/// Up to here words are multiplied one by one. Vectors would wait for the words that the sender has
/// just stored.
constexpr size_t kShortBytes = 128;

[[gnu::target("pclmul")]] inline __m128i times(uint64_t a, uint64_t b) noexcept {
  return _mm_clmulepi64_si128(_mm_cvtsi64_si128(static_cast<long long>(a)),
                              _mm_cvtsi64_si128(static_cast<long long>(b)), 0);
}

[[gnu::target("pclmul")]] inline uint64_t reduced(__m128i state) noexcept {
  const __m128i modulus = _mm_cvtsi32_si128(0x1b);
  const __m128i high = _mm_clmulepi64_si128(state, modulus, 0x01);
  const __m128i over = _mm_clmulepi64_si128(high, modulus, 0x01);
  return static_cast<uint64_t>(_mm_cvtsi128_si64(_mm_xor_si128(_mm_xor_si128(state, high), over)));
}

/// The word that the last `bytes` < 8 make.
template <bool kCopy>
inline uint64_t last_word(std::byte* to, const std::byte* from, size_t bytes) noexcept {
  uint64_t word = 0;
  for (size_t i = 0; i < bytes; ++i) {
    if constexpr (kCopy) to[i] = from[i];
    word |= std::to_integer<uint64_t>(from[i]) << (8 * i);
  }
  return word;
}

/// The last words of all, at most kShortBytes. `state` takes a power more if it is the first word.
template <bool kCopy>
[[gnu::target("pclmul")]] inline uint64_t finish(const HashPowers& powers, uint64_t state,
                                                 bool is_first, std::byte* to,
                                                 const std::byte* from, size_t bytes) noexcept {
  const uint64_t* power = powers.down + kPowers - (bytes + 7) / 8;
  __m128i sum = times(state, is_first ? power[-1] : power[0]);
  for (; bytes >= 8; bytes -= 8, from += 8) {
    const auto word = load_little<uint64_t>(from);
    if constexpr (kCopy) {
      store_little(to, word);
      to += 8;
    }
    sum = _mm_xor_si128(sum, times(word, *power++));
  }
  if (bytes != 0) sum = _mm_xor_si128(sum, times(last_word<kCopy>(to, from, bytes), *power));
  return reduced(sum);
}

template <bool kCopy>
[[gnu::target("pclmul")]] inline __m128i products_128(const uint64_t* power, std::byte* to,
                                                      const std::byte* from) noexcept {
  const __m128i words = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  if constexpr (kCopy) _mm_storeu_si128(reinterpret_cast<__m128i*>(to), words);
  const __m128i by = _mm_load_si128(reinterpret_cast<const __m128i*>(power));
  return _mm_xor_si128(_mm_clmulepi64_si128(words, by, 0x00),
                       _mm_clmulepi64_si128(words, by, 0x11));
}

template <bool kCopy>
[[gnu::target("pclmul")]] uint64_t hash_128(const HashPowers& powers, uint64_t first, std::byte* to,
                                            const std::byte* from, size_t bytes) noexcept {
  if (bytes <= kShortBytes) return finish<kCopy>(powers, first, true, to, from, bytes);
  const uint64_t* by_8 = powers.down + kPowers - 8;
  const __m128i fold =
      _mm_set_epi64x(static_cast<long long>(powers.fold_8), static_cast<long long>(*by_8));
  __m128i state = times(first, powers.point());
  for (; bytes >= 64; bytes -= 64, from += 64) {
    __m128i sum = _mm_xor_si128(_mm_clmulepi64_si128(state, fold, 0x00),
                                _mm_clmulepi64_si128(state, fold, 0x11));
    for (size_t i = 0; i < 8; i += 2) {
      sum = _mm_xor_si128(sum, products_128<kCopy>(by_8 + i, to + 8 * i, from + 8 * i));
    }
    state = sum;
    if constexpr (kCopy) to += 64;
  }
  return finish<kCopy>(powers, reduced(state), false, to, from, bytes);
}

#define PINWIRE_WIDE gnu::target("pclmul,avx512f,vpclmulqdq")

[[PINWIRE_WIDE]] inline __m512i xor_of(__m512i a, __m512i b, __m512i c) noexcept {
  return _mm512_ternarylogic_epi64(a, b, c, 0x96);
}

[[PINWIRE_WIDE]] inline __m512i both_products(__m512i sum, __m512i a, __m512i b) noexcept {
  return xor_of(sum, _mm512_clmulepi64_epi128(a, b, 0x00), _mm512_clmulepi64_epi128(a, b, 0x11));
}

template <bool kCopy>
[[PINWIRE_WIDE]] inline __m512i loaded(std::byte* to, const std::byte* from) noexcept {
  const __m512i words = _mm512_loadu_si512(from);
  if constexpr (kCopy) _mm512_storeu_si512(to, words);
  return words;
}

[[PINWIRE_WIDE]] inline __m512i fold_by(uint64_t low, uint64_t high) noexcept {
  const auto l = static_cast<long long>(low);
  const auto h = static_cast<long long>(high);
  return _mm512_set_epi64(h, l, h, l, h, l, h, l);
}

[[PINWIRE_WIDE]] inline __m128i sum_of_lanes(__m512i state) noexcept {
  alignas(64) __m128i lanes[4];
  _mm512_store_si512(lanes, state);
  return _mm_xor_si128(_mm_xor_si128(lanes[0], lanes[1]), _mm_xor_si128(lanes[2], lanes[3]));
}

template <bool kCopy>
[[PINWIRE_WIDE]] uint64_t hash_512(const HashPowers& powers, uint64_t first, std::byte* to,
                                   const std::byte* from, size_t bytes) noexcept {
  if (bytes <= kShortBytes) return finish<kCopy>(powers, first, true, to, from, bytes);
  const __m512i fold_32 = fold_by(powers.down[0], powers.fold_32);
  const __m512i fold_8 = fold_by(powers.down[kPowers - 8], powers.fold_8);
  const __m512i by[4] = {_mm512_load_si512(powers.down), _mm512_load_si512(powers.down + 8),
                         _mm512_load_si512(powers.down + 16), _mm512_load_si512(powers.down + 24)};
  __m512i state = _mm512_zextsi128_si512(times(first, powers.point()));
  for (; bytes >= 256; bytes -= 256, from += 256) {
    __m512i sums[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
    for (size_t i = 0; i < 4; ++i) {
      sums[i % 2] = both_products(sums[i % 2], loaded<kCopy>(to + 64 * i, from + 64 * i), by[i]);
    }
    state = both_products(_mm512_xor_si512(sums[0], sums[1]), state, fold_32);
    if constexpr (kCopy) to += 256;
  }
  for (; bytes >= 64; bytes -= 64, from += 64) {
    const __m512i sum = both_products(_mm512_setzero_si512(), loaded<kCopy>(to, from), by[3]);
    state = both_products(sum, state, fold_8);
    if constexpr (kCopy) to += 64;
  }
  return finish<kCopy>(powers, reduced(sum_of_lanes(state)), false, to, from, bytes);
}

[[PINWIRE_WIDE]] void plain_512(std::byte* to, const std::byte* from, size_t bytes) noexcept {
  for (; bytes >= 256; bytes -= 256, from += 256, to += 256) {
    for (size_t at = 0; at < 256; at += 64) loaded<true>(to + at, from + at);
  }
  std::memcpy(to, from, bytes);
}

#undef PINWIRE_WIDE

void plain_128(std::byte* to, const std::byte* from, size_t bytes) noexcept {
  std::memcpy(to, from, bytes);
}

}  // namespace

const HashVariant kBodyHash128{hash_128<false>, hash_128<true>, plain_128};
const HashVariant kBodyHash512{hash_512<false>, hash_512<true>, plain_512};

}  // namespace pinwire
#endif
