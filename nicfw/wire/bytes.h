// Little-endian and network-order loads and stores at any address. The wire's codec is written with
// these, so that no struct is ever overlaid on bytes from the network.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pinwire {

template <std::unsigned_integral T>
constexpr T byte_swapped(T value) noexcept {
  if constexpr (sizeof(T) == 1) return value;
  if constexpr (sizeof(T) == 2) return static_cast<T>(__builtin_bswap16(value));
  if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
  if constexpr (sizeof(T) == 8) return __builtin_bswap64(value);
}

template <std::unsigned_integral T>
inline T load_little(const std::byte* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  if constexpr (std::endian::native == std::endian::big) value = byte_swapped(value);
  return value;
}

template <std::unsigned_integral T>
inline void store_little(std::byte* at, T value) noexcept {
  if constexpr (std::endian::native == std::endian::big) value = byte_swapped(value);
  std::memcpy(at, &value, sizeof value);
}

template <std::unsigned_integral T>
inline T load_network(const std::byte* at) noexcept {
  return byte_swapped(load_little<T>(at));
}

template <std::unsigned_integral T>
inline void store_network(std::byte* at, T value) noexcept {
  store_little<T>(at, byte_swapped(value));
}

}  // namespace pinwire
