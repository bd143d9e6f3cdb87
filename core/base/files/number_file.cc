#include "core/base/files/number_file.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace pinwire {
namespace {

std::optional<uint64_t> number_of(const char* path, const char* label, int base) noexcept {
  FILE* file = std::fopen(path, "re");
  if (file == nullptr) return std::nullopt;
  char line[256];
  std::optional<uint64_t> value;
  const size_t label_bytes = std::strlen(label);
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::strncmp(line, label, label_bytes) != 0) continue;
    value = std::strtoull(line + label_bytes, nullptr, base);
    break;
  }
  std::fclose(file);
  return value;
}

}  // namespace

uint64_t number_in(const char* path, const char* label) noexcept {
  return number_of(path, label, 10).value_or(0);
}
uint64_t hex_number_in(const char* path, const char* label) noexcept {
  return number_of(path, label, 16).value_or(0);
}
std::optional<uint64_t> octal_number_in(const char* path, const char* label) noexcept {
  return number_of(path, label, 8);
}

}  // namespace pinwire
