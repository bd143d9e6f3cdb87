#include "core/config/letters.h"

namespace pinwire {

std::optional<uint32_t> parse_letters(std::string_view text, std::string_view known) {
  uint32_t all = 0, mask = 0;
  for (const char letter : known) all |= 1u << (letter - 'A');
  if (text.empty()) return all;
  const bool is_complement = text.front() == '^';
  if (is_complement) text.remove_prefix(1);
  for (const char letter : text) {
    if (known.find(letter) == std::string_view::npos) return std::nullopt;
    mask |= 1u << (letter - 'A');
  }
  return is_complement ? all & ~mask : mask;
}

}  // namespace pinwire
