// The operation that a reduction applies to two vectors (GX-146 to GX-153).
#pragma once

#include <cstddef>
#include <cstring>

#include "core/api_types.h"
#include "core/base/check.h"
#include "core/base/no_cancel.h"

namespace pinwire {

/// The client's: b_and_out[i] = a[i] (+) b_and_out[i].
using UserFunction = void (*)(const void* a, void* b_and_out, size_t count, const void* data);
/// The library's: out[i] = a[i] (+) b[i]. `out` may be `a` or `b`.
using BuiltInFunction = void (*)(const void* a, const void* b, void* out, size_t count);

struct Reduction {
  size_t element_bytes = 0;
  size_t count = 0;
  BuiltInFunction built_in = nullptr;
  UserFunction user = nullptr;  ///< instead
  const void* client_data = nullptr;
  bool is_ordered = false;  ///< it does not commute

  /// out[i] = a[i] (+) b[i], of `elements`. `out` may be `a` or `b`; what lies at `b` is lost.
  void combine(const void* a, void* b, void* out, size_t elements) const noexcept {
    dcheck(elements <= count, "more elements than the reduction has", elements, count);
    dcheck((built_in != nullptr) != (user != nullptr), "a reduction with two functions, or none");
    if (built_in != nullptr) return built_in(a, b, out, elements);
    const NoCancel in_client;
    user(a, b, elements, client_data);
    if (out != b) std::memcpy(out, b, elements * element_bytes);
  }
};

/// 0: not a type that is built in.
size_t built_in_bytes(gex_DT_t type) noexcept;
/// nullptr: `op` is none that this type has in reductions.
BuiltInFunction built_in_function(gex_DT_t type, gex_OP_t op) noexcept;

}  // namespace pinwire
