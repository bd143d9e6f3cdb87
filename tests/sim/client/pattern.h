// Bytes that follow from a 64-bit seed: what payloads are made of, so that a receiver can verify
// any of them without having seen the original.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace pinwire::sim {

constexpr uint64_t pattern_word(uint64_t seed, uint64_t index) noexcept {
  uint64_t mixed = seed * 0x9e3779b97f4a7c15u + index * 0xd1342543de82ef95u + 1;
  mixed ^= mixed >> 32;
  mixed *= 0xbf58476d1ce4e5b9u;
  return mixed ^ mixed >> 29;
}

inline void fill_pattern(std::span<std::byte> bytes, uint64_t seed) noexcept {
  for (size_t at = 0; at < bytes.size(); at += 8) {
    const uint64_t word = pattern_word(seed, at);
    std::memcpy(bytes.data() + at, &word, std::min<size_t>(8, bytes.size() - at));
  }
}

/// Where `bytes` first differ from the pattern; their size if nowhere.
inline size_t pattern_mismatch(std::span<const std::byte> bytes, uint64_t seed) noexcept {
  for (size_t at = 0; at < bytes.size(); at += 8) {
    const uint64_t word = pattern_word(seed, at);
    const size_t count = std::min<size_t>(8, bytes.size() - at);
    if (std::memcmp(bytes.data() + at, &word, count) == 0) continue;
    const auto* wanted = reinterpret_cast<const std::byte*>(&word);
    for (size_t i = 0; i < count; ++i) {
      if (bytes[at + i] != wanted[i]) return at + i;
    }
  }
  return bytes.size();
}

}  // namespace pinwire::sim
