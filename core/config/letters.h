// Masks of letters as users write them: "GP", "^X" for all but X.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pinwire {

/// Bit n is letter 'A' + n. Letters outside `known` (in capitals) are no mask; nothing at all is
/// all of `known`.
std::optional<uint32_t> parse_letters(std::string_view text, std::string_view known);

}  // namespace pinwire
