// Numbers in files of /proc, /sys and cgroups.
#pragma once

#include <cstdint>
#include <optional>

namespace pinwire {

/// The number that follows `label` at the start of a line; 0 if there is none.
uint64_t number_in(const char* path, const char* label) noexcept;
uint64_t hex_number_in(const char* path, const char* label) noexcept;
/// None if no line begins with `label`.
std::optional<uint64_t> octal_number_in(const char* path, const char* label) noexcept;

}  // namespace pinwire
