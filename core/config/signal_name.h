// Signals as users write them: SIGSEGV, SEGV, segv, 11.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pinwire {

std::optional<int> parse_signal(std::string_view text);

/// A comma list, or "*" for all of them; signal N is bit N.
std::optional<uint64_t> parse_signals(std::string_view text);

}  // namespace pinwire
