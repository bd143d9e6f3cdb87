// How an implementation of BodyHash is called (body_hash.h): each CPU takes the fastest that it
// runs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pinwire {

/// The constants that all implementations read: powers of the secret point H.
struct alignas(64) HashPowers {
  static constexpr uint32_t kCount = 32;

  uint64_t down[kCount + 1] = {};  ///< H^32, ..., H^1, H^0
  uint64_t fold_32 = 0;            ///< x^64 H^32
  uint64_t fold_8 = 0;             ///< x^64 H^8
  uint64_t point() const noexcept { return down[kCount - 1]; }
};

struct HashVariant {
  using Function = uint64_t (*)(const HashPowers& powers, uint64_t first, std::byte* to,
                                const std::byte* from, size_t bytes) noexcept;
  Function hash;  ///< leaves `to` alone
  Function copy;  ///< copies `bytes` to `to`, too
  /// Copies without hashing. Vector stores fill cold memory a quarter faster than the string
  /// instruction that memcpy() takes for such lengths, and leave the target in the cache.
  void (*plain)(std::byte* to, const std::byte* from, size_t bytes) noexcept;
};

}  // namespace pinwire
