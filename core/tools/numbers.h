// A text of the environment as a number; nothing for any other text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pinwire {

/// memory_unit 0: a whole number. Otherwise bytes with an optional suffix; `memory_unit` bytes
/// without.
std::optional<int64_t> number_of(std::string_view text, uint64_t memory_unit);

}  // namespace pinwire
