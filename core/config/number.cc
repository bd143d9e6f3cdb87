#include "core/config/number.h"

#include <strings.h>

#include <charconv>
#include <cmath>
#include <string>

namespace pinwire {
namespace {

constexpr double kBytesMax = 9007199254740992.0;  // 2^53: what a double still counts exactly

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// The number at the start of `text`, which is shortened to what follows it.
std::optional<double> take_real(std::string_view& text) {
  double value = 0;
  const char* last = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), last, value);
  if (problem != std::errc{} || !std::isfinite(value)) return std::nullopt;
  text = trimmed(std::string_view(rest, static_cast<size_t>(last - rest)));
  return value;
}

/// `unit`, 1, 1024, 1024^2 ... for "", B, K, KB, kb, M ...; 0 for anything else.
uint64_t scale_of(std::string_view suffix, uint64_t unit) {
  if (suffix.empty()) return unit;
  if (same_word(suffix, "B")) return 1;
  if (suffix.size() > 2 || (suffix.size() == 2 && (suffix[1] | 0x20) != 'b')) return 0;
  switch (suffix[0] | 0x20) {
    case 'k':
      return uint64_t{1} << 10;
    case 'm':
      return uint64_t{1} << 20;
    case 'g':
      return uint64_t{1} << 30;
    case 't':
      return uint64_t{1} << 40;
    default:
      return 0;
  }
}

/// The digits at the start of `text`, unless a fraction follows; shortens it to what does follow.
std::optional<uint64_t> take_whole(std::string_view& text) {
  uint64_t value = 0;
  const char* last = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), last, value);
  if (problem != std::errc{} || (rest != last && *rest == '.')) return std::nullopt;
  text = trimmed(std::string_view(rest, static_cast<size_t>(last - rest)));
  return value;
}

std::optional<uint64_t> scaled(uint64_t count, uint64_t scale) {
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(count, scale, &bytes)) return std::nullopt;
  return bytes;
}

}  // namespace

bool same_word(std::string_view text, const char* word) {
  return text.size() == std::char_traits<char>::length(word) &&
         strncasecmp(text.data(), word, text.size()) == 0;
}

std::optional<bool> parse_yes_no(std::string_view text) {
  const auto word = trimmed(text);
  for (const char* yes : {"y", "yes", "true", "on", "1"})
    if (same_word(word, yes)) return true;
  for (const char* no : {"n", "no", "false", "off", "0"})
    if (same_word(word, no)) return false;
  return std::nullopt;
}

std::optional<int64_t> parse_whole(std::string_view text) {
  auto word = trimmed(text);
  int base = 10;
  if (word.starts_with("0x") || word.starts_with("0X")) {
    word.remove_prefix(2);
    if (word.starts_with('-')) return std::nullopt;
    base = 16;
  }
  int64_t value = 0;
  const char* last = word.data() + word.size();
  const auto [rest, problem] = std::from_chars(word.data(), last, value, base);
  if (problem != std::errc{} || rest != last) return std::nullopt;
  return value;
}

std::optional<double> parse_real(std::string_view text) {
  auto word = trimmed(text);
  const auto value = take_real(word);
  if (!value || word.empty()) return value;
  if (word[0] != '/') return std::nullopt;
  word = trimmed(word.substr(1));
  const auto divisor = take_real(word);
  if (!divisor || *divisor == 0 || !word.empty()) return std::nullopt;
  return *value / *divisor;
}

std::optional<uint64_t> parse_bytes(std::string_view text, uint64_t unit) {
  auto word = trimmed(text);
  // Hexadecimal takes no suffix: B would be a digit.
  if (word.starts_with("0x") || word.starts_with("0X")) {
    const auto whole = parse_whole(word);
    return whole && *whole >= 0 ? scaled(static_cast<uint64_t>(*whole), unit) : std::nullopt;
  }
  auto rest = word;
  if (const auto whole = take_whole(rest)) {
    const uint64_t scale = scale_of(rest, unit);
    return scale != 0 ? scaled(*whole, scale) : std::nullopt;
  }
  const auto number = take_real(word);
  if (!number || *number < 0 || std::signbit(*number)) return std::nullopt;
  const uint64_t scale = scale_of(word, unit);
  const double bytes = *number * static_cast<double>(scale);
  if (scale == 0 || bytes > kBytesMax) return std::nullopt;
  return static_cast<uint64_t>(bytes);
}

std::optional<MemoryBound> parse_memory_bound(std::string_view text) {
  auto word = trimmed(text);
  MemoryBound bound;
  const char last = word.empty() ? '\0' : static_cast<char>(word.back() | 0x20);
  if (last == 'p' || last == 'h') {
    bound.per_host = last == 'h';
    word = trimmed(word.substr(0, word.size() - 1));
    if (word.ends_with('/')) word = trimmed(word.substr(0, word.size() - 1));
  }
  const auto real = parse_real(word);
  if (real && *real > 0 && *real < 1) {
    bound.fraction = *real;
    return bound;
  }
  const auto bytes = parse_bytes(word);
  if (!bytes) return std::nullopt;
  bound.bytes = *bytes;
  return bound;
}

}  // namespace pinwire
