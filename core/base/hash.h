// FNV-1a: to compare what ranks say of themselves; no defence against anyone.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pinwire {

inline constexpr uint64_t kHashStart = 0xcbf29ce484222325u;

inline uint64_t hash_more(uint64_t hash, const void* bytes, size_t count) noexcept {
  const auto* at = static_cast<const unsigned char*>(bytes);
  for (size_t i = 0; i < count; ++i) hash = (hash ^ at[i]) * 0x100000001b3u;
  return hash;
}

/// Half the bytes will do where few are compared.
inline uint32_t hash_fold(uint64_t hash) noexcept {
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

}  // namespace pinwire
