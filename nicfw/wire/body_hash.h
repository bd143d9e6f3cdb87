// The keyed hash of a frame's records: a polynomial over GF(2^64) at a secret point H, the field's
// modulus being x^64 + x^4 + x^3 + x + 1.
//
// The first word holds the length and 32 bits of context; the bytes follow as little-endian words,
// the last filled up with zeros. The hash of words w[0] to w[n] is w[0] H^(n+1) + ... + w[n] H. Two
// different inputs of at most n words have hashes that differ by a given value with a probability
// of at most (n + 1) / 2^64 over the secret points (Carter and Wegman): 2^-53 for the longest
// frame. That holds only while nobody sees a hash: it goes onto the wire under a mask that is used
// once (wire.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "nicfw/wire/bytes.h"
#include "nicfw/wire/hash_variant.h"

namespace pinwire {

class BodyHash {
 public:
  static constexpr uint32_t kPowers = HashPowers::kCount;
  static constexpr uint32_t kFixedWords = 5;
  using Powers = HashPowers;
  using Variant = HashVariant;

  /// Hashes nothing: every hash is 0.
  constexpr BodyHash() noexcept = default;
  explicit BodyHash(uint64_t secret_point) noexcept;

  uint64_t of(uint32_t context, const void* data, size_t bytes) const noexcept {
    if (powers_.point() == 0) return 0;
    return best().hash(powers_, first_word(context, bytes), nullptr,
                       static_cast<const std::byte*>(data), bytes);
  }

  /// The hash of words of which there are always as many: the first one takes the place of the
  /// length.
  uint64_t of_words(const uint64_t (&words)[kFixedWords]) const noexcept {
    if (powers_.point() == 0) return 0;
    std::byte others[8 * (kFixedWords - 1)];
    for (uint32_t i = 1; i < kFixedWords; ++i) store_little(others + 8 * (i - 1), words[i]);
    return best().hash(powers_, words[0], nullptr, others, sizeof others);
  }

  /// The hash of the source, which is read once: what the target gets is what was hashed.
  uint64_t copy(uint32_t context, void* to, const void* from, size_t bytes) const noexcept {
    if (powers_.point() == 0) {
      copy_plain(to, from, bytes);
      return 0;
    }
    return best().copy(powers_, first_word(context, bytes), static_cast<std::byte*>(to),
                       static_cast<const std::byte*>(from), bytes);
  }

  static void copy_plain(void* to, const void* from, size_t bytes) noexcept {
    constexpr size_t kLongBytes = 1024;
    if (bytes < kLongBytes) {
      std::memcpy(to, from, bytes);
      return;
    }
    best().plain(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes);
  }

  /// The portable implementation and those that this CPU runs; nullptr after the last. For the test
  /// that holds them against each other.
  static const Variant* variant(uint32_t index) noexcept;
  const Powers& powers() const noexcept { return powers_; }
  /// Binds the length, so that trailing zeros cannot be added or cut.
  static constexpr uint64_t first_word(uint32_t context, size_t bytes) noexcept {
    return static_cast<uint32_t>(bytes) | uint64_t{context} << 32;
  }

 private:
  static const Variant& best() noexcept { return *best_; }
  static const Variant* const best_;

  Powers powers_;
};

}  // namespace pinwire
