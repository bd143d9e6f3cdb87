// CRC-32C (Castagnoli), the integrity check of every frame that no device has checked.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pinwire {

/// Continues `crc` over `bytes` bytes. Start with crc32c_start(length) and compare the last value;
/// the conventional CRC-32C is ~crc32c(~0, data, bytes).
uint32_t crc32c(uint32_t crc, const void* data, size_t bytes) noexcept;

/// The portable one, and those that this CPU can run (nullptr after the last), for the test that
/// holds them against each other.
uint32_t crc32c_software(uint32_t crc, const void* data, size_t bytes) noexcept;
using Crc32cFunction = uint32_t (*)(uint32_t, const void*, size_t) noexcept;
Crc32cFunction crc32c_variant(uint32_t index) noexcept;

/// Binds the length, so that trailing zeros cannot be added or cut.
constexpr uint32_t crc32c_start(uint32_t length) noexcept { return ~length; }

}  // namespace pinwire
