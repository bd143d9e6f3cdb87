// The portable implementation, and the choice among all: carry-less products by integer products of
// numbers with three zero bits between any two others (Pornin, BearSSL's ctmul64), which takes no
// tables and the same time whatever the secret.
#include "nicfw/wire/body_hash.h"

#include "nicfw/wire/body_hash_clmul.h"
#include "nicfw/wire/bytes.h"

namespace pinwire {
namespace {

constexpr uint64_t reversed(uint64_t value) noexcept {
  const auto swap = [&value](uint64_t mask, int by) {
    value = (value & mask) << by | (value >> by & mask);
  };
  swap(0x5555555555555555, 1);
  swap(0x3333333333333333, 2);
  swap(0x0f0f0f0f0f0f0f0f, 4);
  return byte_swapped(value);
}

/// The low half of a carry-less product. Sixteen terms fit between two bits, all but the last
/// one's, whose carry leaves the word.
constexpr uint64_t low_product(uint64_t a, uint64_t b) noexcept {
  constexpr uint64_t kEveryFourth = 0x1111111111111111;
  uint64_t product = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    uint64_t sum = 0;
    for (uint32_t j = 0; j < 4; ++j) {
      sum ^= (a & kEveryFourth << j) * (b & kEveryFourth << ((i - j) % 4));
    }
    product |= sum & kEveryFourth << i;
  }
  return product;
}

/// value * (x^4 + x^3 + x + 1), without what leaves the word.
constexpr uint64_t by_modulus(uint64_t value) noexcept {
  return value ^ value << 1 ^ value << 3 ^ value << 4;
}

constexpr uint64_t product(uint64_t a, uint64_t b) noexcept {
  const uint64_t high = reversed(low_product(reversed(a), reversed(b))) >> 1;
  const uint64_t over = high >> 63 ^ high >> 61 ^ high >> 60;
  return low_product(a, b) ^ by_modulus(high) ^ by_modulus(over);
}
static_assert(product(uint64_t{1} << 63, 2) == 0x1b);
static_assert(product(~uint64_t{0}, 1) == ~uint64_t{0});

uint64_t hash_portable(const BodyHash::Powers& powers, uint64_t first, std::byte*,
                       const std::byte* from, size_t bytes) noexcept {
  uint64_t state = product(first, powers.point());
  for (; bytes >= 8; bytes -= 8, from += 8) {
    state = product(state ^ load_little<uint64_t>(from), powers.point());
  }
  if (bytes == 0) return state;
  std::byte last[8] = {};
  std::memcpy(last, from, bytes);
  return product(state ^ load_little<uint64_t>(last), powers.point());
}

/// Hashes what has arrived, so that the target has what was hashed.
uint64_t copy_portable(const BodyHash::Powers& powers, uint64_t first, std::byte* to,
                       const std::byte* from, size_t bytes) noexcept {
  std::memcpy(to, from, bytes);
  return hash_portable(powers, first, nullptr, to, bytes);
}

void plain_portable(std::byte* to, const std::byte* from, size_t bytes) noexcept {
  std::memcpy(to, from, bytes);
}

constexpr BodyHash::Variant kPortable{hash_portable, copy_portable, plain_portable};

/// From the slowest to the fastest.
const BodyHash::Variant* variant_of(uint32_t index) noexcept {
  if (index == 0) return &kPortable;
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool narrow = __builtin_cpu_supports("pclmul");
  const bool wide =
      narrow && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq");
  if (index == 1 && narrow) return &kBodyHash128;
  if (index == 2 && wide) return &kBodyHash512;
#endif
  return nullptr;
}

const BodyHash::Variant* fastest() noexcept {
  uint32_t last = 0;
  while (variant_of(last + 1) != nullptr) ++last;
  return variant_of(last);
}

}  // namespace

const BodyHash::Variant* const BodyHash::best_ = fastest();

const BodyHash::Variant* BodyHash::variant(uint32_t index) noexcept { return variant_of(index); }

BodyHash::BodyHash(uint64_t secret_point) noexcept {
  constexpr uint64_t kX64 = 0x1b;  // x^64 modulo the modulus
  powers_.down[kPowers] = 1;
  for (uint32_t i = kPowers; i > 0; --i) {
    powers_.down[i - 1] = product(powers_.down[i], secret_point);
  }
  powers_.fold_32 = product(powers_.down[0], kX64);
  powers_.fold_8 = product(powers_.down[kPowers - 8], kX64);
}

}  // namespace pinwire
