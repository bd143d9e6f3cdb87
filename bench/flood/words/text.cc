#include "bench/flood/words/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace pinwire::flood {

std::string text(const char* format, ...) {
  va_list values;
  va_start(values, format);
  va_list again;
  va_copy(again, values);
  const int length = std::vsnprintf(nullptr, 0, format, values);
  va_end(values);
  std::string result(length > 0 ? static_cast<size_t>(length) : 0, '\0');
  std::vsnprintf(result.data(), result.size() + 1, format, again);
  va_end(again);
  return result;
}

std::string significant(double value) {
  if (!std::isfinite(value)) return "-";
  if (value == 0) return "0";
  // Rounding may add a digit (9.996 is 10.0): the magnitude is that of the rounded value.
  const double rounded = std::strtod(text("%.2e", value).c_str(), nullptr);
  const int magnitude = static_cast<int>(std::floor(std::log10(std::fabs(rounded))));
  return text("%.*f", std::clamp(2 - magnitude, 0, 9), value);
}

std::string bytes_text(uint64_t bytes) {
  const auto in = [&](uint64_t unit, const char* label) {
    return text("%llu %s", static_cast<unsigned long long>(bytes / unit), label);
  };
  if (bytes >= 1u << 20 && bytes % (1u << 20) == 0) return in(1u << 20, "MiB");
  if (bytes >= 1u << 10 && bytes % (1u << 10) == 0) return in(1u << 10, "KiB");
  return in(1, "B");
}

bool parse_count(std::string_view words, uint64_t& count) {
  const char* end = words.data() + words.size();
  const auto [stopped, failure] = std::from_chars(words.data(), end, count);
  return failure == std::errc{} && stopped == end;
}

bool parse_bytes(std::string_view words, uint64_t& bytes) {
  unsigned shift = 0;
  if (!words.empty()) {
    switch (words.back()) {
      case 'k':
      case 'K':
        shift = 10;
        break;
      case 'm':
      case 'M':
        shift = 20;
        break;
      case 'g':
      case 'G':
        shift = 30;
        break;
      default:
        break;
    }
  }
  if (shift != 0) words.remove_suffix(1);
  uint64_t count = 0;
  if (!parse_count(words, count) || count > (UINT64_MAX >> shift)) return false;
  bytes = count << shift;
  return true;
}

}  // namespace pinwire::flood
