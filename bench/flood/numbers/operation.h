// The nine operations of GASNet that flood measures, each one at a time or overlapped (PA-009,
// PA-010, PA-012). The names are those of the JSON output.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace pinwire::flood {

enum class Pattern : uint8_t { kPingpong, kFlood };

enum class Operation : uint8_t {
  kPutBlocking,
  kGetBlocking,
  kPutNb,
  kGetNb,
  kPutNbi,
  kGetNbi,
  kAmShort,
  kAmMedium,
  kAmLong,
};

inline constexpr std::array kPatterns = {Pattern::kPingpong, Pattern::kFlood};
inline constexpr std::array kOperations = {
    Operation::kPutBlocking, Operation::kGetBlocking, Operation::kPutNb,
    Operation::kGetNb,       Operation::kPutNbi,      Operation::kGetNbi,
    Operation::kAmShort,     Operation::kAmMedium,    Operation::kAmLong};

constexpr const char* name(Pattern test) noexcept {
  return test == Pattern::kPingpong ? "pingpong" : "flood";
}

constexpr const char* name(Operation operation) noexcept {
  constexpr std::array<const char*, kOperations.size()> kNames = {
      "put_blocking", "get_blocking", "put_nb",    "get_nb", "put_nbi",
      "get_nbi",      "am_short",     "am_medium", "am_long"};
  return kNames[static_cast<size_t>(operation)];
}

constexpr bool is_am(Operation operation) noexcept { return operation >= Operation::kAmShort; }

constexpr bool is_put(Operation operation) noexcept {
  return operation == Operation::kPutBlocking || operation == Operation::kPutNb ||
         operation == Operation::kPutNbi;
}

constexpr bool is_blocking(Operation operation) noexcept {
  return operation <= Operation::kGetBlocking;
}

}  // namespace pinwire::flood
