// What a reduction does to two vectors (GX-146 to GX-153).
#pragma once

#include <cstddef>

#include "core/api_types.h"

namespace pinwire {

/// b_and_out[i] = a[i] (+) b_and_out[i].
using ReduceFunction = void (*)(const void* a, void* b_and_out, size_t count, const void* data);

struct Reduction {
  size_t element_bytes = 0;
  size_t count = 0;
  ReduceFunction function = nullptr;
  const void* client_data = nullptr;
  bool is_ordered = false;  ///< it does not commute
};

/// 0: not a type that is built in.
size_t built_in_bytes(gex_DT_t type) noexcept;
/// nullptr: `op` is none that this type has in reductions.
ReduceFunction built_in_function(gex_DT_t type, gex_OP_t op) noexcept;

}  // namespace pinwire
