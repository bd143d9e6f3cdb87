// Assertions. `check` is always on, `dcheck` only in builds with -Dchecks=true. A failed one aborts
// the process with a sentence that names the rank, the host, the place and the values given.
//
//   check(slots_used <= slots_max, "ring overrun", slots_used, slots_max);
//
// For bugs of ours and for misuse by the client; never for bytes that came from the network.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace pinwire {

#ifdef PINWIRE_CHECKS
inline constexpr bool kChecks = true;
#else
inline constexpr bool kChecks = false;
#endif
/// Debug builds (-Dgasnet_debug=true) check what clients do, too.
#ifdef PINWIRE_USAGE_CHECKS
inline constexpr bool kUsageChecks = true;
#else
inline constexpr bool kUsageChecks = false;
#endif

/// A string literal that remembers where it was written (clang 14 has no std::source_location).
struct CheckText {
  const char* text;
  const char* file;
  const char* function;
  unsigned line;
  consteval CheckText(const char* words,  // NOLINT: implicit on purpose
                      const char* in_file = __builtin_FILE(),
                      const char* in_function = __builtin_FUNCTION(),
                      unsigned on_line = __builtin_LINE())
      : text(words), file(in_file), function(in_function), line(on_line) {}
};

/// The fields of a CheckText one by one: its address would put it on the stack on every passing
/// check.
[[noreturn, gnu::cold]] void check_failed(const char* text, const char* file, const char* function,
                                          unsigned line, const int64_t* values,
                                          int value_count) noexcept;

template <typename V>
constexpr int64_t check_value(V value) noexcept {
  if constexpr (std::is_pointer_v<V>) {
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(value));
  } else {
    return static_cast<int64_t>(value);
  }
}

template <typename... Values>
inline void check(bool holds, CheckText text, Values... values) noexcept {
  if (!holds) [[unlikely]] {
    const int64_t list[sizeof...(Values) + 1] = {check_value(values)..., 0};
    check_failed(text.text, text.file, text.function, text.line, list, sizeof...(Values));
  }
}

template <typename... Values>
inline void dcheck(bool holds, CheckText text, Values... values) noexcept {
  if constexpr (kChecks) check(holds, text, values...);
}

}  // namespace pinwire
