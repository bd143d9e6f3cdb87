// Copies of many pieces between memory that this process has at both ends: each piece one call of
// memcpy(), or, in the sizes that clients' elements have, a load and a store without a call.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "extended/vis/box.h"

namespace pinwire::vis {

/// Calls what(size) with `bytes` as a constant where it is a size that memcpy() need not be called
/// for, and else as it is.
template <typename What>
[[gnu::always_inline]] inline void with_size(size_t bytes, What&& what) noexcept {
  switch (bytes) {
    case 1:
      return what(std::integral_constant<size_t, 1>());
    case 2:
      return what(std::integral_constant<size_t, 2>());
    case 4:
      return what(std::integral_constant<size_t, 4>());
    case 8:
      return what(std::integral_constant<size_t, 8>());
    case 16:
      return what(std::integral_constant<size_t, 16>());
    case 32:
      return what(std::integral_constant<size_t, 32>());
    case 64:
      return what(std::integral_constant<size_t, 64>());
    case 128:
      return what(std::integral_constant<size_t, 128>());
    default:
      return what(bytes);
  }
}

/// One piece.
[[gnu::always_inline]] inline void copy_piece(std::byte* to, const std::byte* from,
                                              size_t bytes) noexcept {
  with_size(bytes, [&](auto size) noexcept { std::memcpy(to, from, size); });
}

/// All elements of `box` from its one end to the other, both in this process. The two do not
/// overlap (VIS-031, VIS-037).
void copy_to_there(const Box& box, std::byte* there, const std::byte* here) noexcept;
void copy_from_there(const Box& box, const std::byte* there, std::byte* here) noexcept;

}  // namespace pinwire::vis
