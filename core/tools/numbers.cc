// Numbers as people write them.
#include "core/tools/numbers.h"

#include <cinttypes>
#include <cstdio>

#include "core/base/log.h"
#include "core/config/number.h"
#include "core/tools/api.h"

namespace pinwire {
namespace {

constexpr struct {
  const char* name;
  int shift;
} kUnits[] = {{"TB", 40}, {"GB", 30}, {"MB", 20}, {"KB", 10}, {"B", 0}};

}  // namespace

std::optional<int64_t> number_of(std::string_view text, uint64_t memory_unit) {
  if (memory_unit == 0) return parse_whole(text);
  const auto first = text.find_first_not_of(" \t");
  const bool is_negative = first != std::string_view::npos && text[first] == '-';
  if (is_negative) text.remove_prefix(first + 1);
  const auto bytes = parse_bytes(text, memory_unit);
  if (!bytes || *bytes > INT64_MAX) return std::nullopt;
  return is_negative ? -static_cast<int64_t>(*bytes) : static_cast<int64_t>(*bytes);
}

}  // namespace pinwire

using namespace pinwire;

extern "C" {

char* gasnett_format_number(int64_t value, char* text, size_t text_bytes, int is_memory) {
  if (!is_memory) {
    std::snprintf(text, text_bytes, "%" PRId64, value);
    return text;
  }
  for (const auto& unit : kUnits) {
    const int64_t one = int64_t{1} << unit.shift;
    if (value % one == 0 && (value != 0 || unit.shift == 0)) {
      std::snprintf(text, text_bytes, "%" PRId64 " %s", value / one, unit.name);
      break;
    }
  }
  return text;
}

int64_t gasnett_parse_int(const char* text, uint64_t memory_unit) {
  const auto number = number_of(text, memory_unit);
  if (!number) {
    fatal("\"%s\" is no %s", text,
          memory_unit == 0 ? "whole number (decimal, or hexadecimal with 0x)"
                           : "memory size (a number, perhaps with K, M, G or T)");
  }
  return *number;
}

}  // extern "C"
