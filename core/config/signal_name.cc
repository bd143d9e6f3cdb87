#include "core/config/signal_name.h"

#include <signal.h>
#include <string.h>

#include "core/config/number.h"

namespace pinwire {
namespace {

constexpr int kSignalsEnd = 64;  // a bit of a word for each; real-time signals by number

}  // namespace

std::optional<int> parse_signal(std::string_view text) {
  if (const auto number = parse_whole(text)) {
    if (*number < 1 || *number >= kSignalsEnd) return std::nullopt;
    return static_cast<int>(*number);
  }
  if (text.size() > 3 && same_word(text.substr(0, 3), "SIG")) text.remove_prefix(3);
  for (int number = 1; number < kSignalsEnd; ++number) {
    const char* name = sigabbrev_np(number);
    if (name != nullptr && same_word(text, name)) return number;
  }
  return std::nullopt;
}

std::optional<uint64_t> parse_signals(std::string_view text) {
  if (text == "*") return ~uint64_t{0};
  uint64_t set = 0;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const auto number = parse_signal(text.substr(0, comma));
    if (!number) return std::nullopt;
    set |= uint64_t{1} << *number;
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return set;
}

}  // namespace pinwire
