// What a reduction does to two vectors (GX-146 to GX-153).
#pragma once

#include <cstddef>

namespace pinwire {

struct Reduction {
  /// out[i] = a[i] (+) b[i]; out may be a or b.
  using Kernel = void (*)(const void* a, const void* b, void* out, size_t count) noexcept;
  size_t element_bytes = 0;
  size_t count = 0;
  Kernel kernel = nullptr;  ///< nullptr: the client's function
  void (*function)(const void* a, void* b_and_out, size_t count, const void* client_data) = nullptr;
  const void* client_data = nullptr;
  bool is_ordered = false;  ///< does not commute
};

}  // namespace pinwire
