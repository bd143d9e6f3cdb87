// Assertions. `check` is always on, `dcheck` only in builds with -Dchecks=true. A failed one aborts
// the process with a sentence that names the rank, the host, the place and the values given.
//
//   check(slots_used <= slots_max, "ring overrun", slots_used, slots_max);
//
// For bugs of ours and for misuse by the client; never for bytes that came from the network.
#pragma once

#include <concepts>
#include <cstdint>
#include <source_location>
#include <type_traits>

namespace pinwire {

#ifdef PINWIRE_CHECKS
inline constexpr bool kChecks = true;
#else
inline constexpr bool kChecks = false;
#endif

/// A string literal that remembers where it was written.
struct CheckText {
  const char* text;
  std::source_location where;
  consteval CheckText(const char* words,  // NOLINT: implicit on purpose
                      std::source_location here = std::source_location::current())
      : text(words), where(here) {}
};

[[noreturn, gnu::cold]] void check_failed(const char* text, const std::source_location& where,
                                          const int64_t* values, int value_count) noexcept;

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
    check_failed(text.text, text.where, list, sizeof...(Values));
  }
}

template <typename... Values>
inline void dcheck(bool holds, CheckText text, Values... values) noexcept {
  if constexpr (kChecks) check(holds, text, values...);
}

}  // namespace pinwire
