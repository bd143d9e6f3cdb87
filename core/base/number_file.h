// Numbers in files of /proc, /sys and cgroups.
#pragma once

#include <cstdint>

namespace pinwire {

/// The number that follows `label` at the start of a line; 0 if there is none.
uint64_t number_in(const char* path, const char* label) noexcept;
uint64_t hex_number_in(const char* path, const char* label) noexcept;

}  // namespace pinwire
