#include "extended/coll/operation/reduction.h"

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace pinwire {
namespace {

// Integers wrap around: sums and products are those of the unsigned type.
template <typename T>
struct Wrapping {
  using Type = T;
};
template <typename T>
requires std::is_integral_v<T>
struct Wrapping<T> {
  using Type = std::make_unsigned_t<T>;
};

struct Add {
  template <typename T>
  static T of(T a, T b) noexcept {
    using W = typename Wrapping<T>::Type;
    return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
  }
};
struct Multiply {
  template <typename T>
  static T of(T a, T b) noexcept {
    using W = typename Wrapping<T>::Type;
    return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
  }
};
struct Least {
  template <typename T>
  static T of(T a, T b) noexcept {
    return a < b ? a : b;
  }
};
struct Greatest {
  template <typename T>
  static T of(T a, T b) noexcept {
    return a > b ? a : b;
  }
};
struct And {
  template <typename T>
  static T of(T a, T b) noexcept {
    return a & b;
  }
};
struct Or {
  template <typename T>
  static T of(T a, T b) noexcept {
    return a | b;
  }
};
struct Xor {
  template <typename T>
  static T of(T a, T b) noexcept {
    return a ^ b;
  }
};

/// Combines in vector registers: with -O2 a compiler vectorises only a loop over as many elements
/// as it knows of.
template <typename T, typename Op>
void combine(const void* a, const void* b, void* out, size_t count) noexcept {
  constexpr size_t kAtOnce = 16 / sizeof(T);
  const T* left = static_cast<const T*>(a);
  const T* right = static_cast<const T*>(b);
  T* to = static_cast<T*>(out);
  size_t i = 0;
  for (; i + kAtOnce <= count; i += kAtOnce) {
    T x[kAtOnce], y[kAtOnce];
    std::memcpy(x, left + i, sizeof x);
    std::memcpy(y, right + i, sizeof y);
    for (size_t k = 0; k < kAtOnce; ++k) x[k] = Op::of(x[k], y[k]);
    std::memcpy(to + i, x, sizeof x);
  }
  for (; i < count; ++i) to[i] = Op::of(left[i], right[i]);
}

template <typename T>
BuiltInFunction function_of(gex_OP_t op) noexcept {
  switch (op) {
    case GEX_OP_ADD:
      return combine<T, Add>;
    case GEX_OP_MULT:
      return combine<T, Multiply>;
    case GEX_OP_MIN:
      return combine<T, Least>;
    case GEX_OP_MAX:
      return combine<T, Greatest>;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (op) {
      case GEX_OP_AND:
        return combine<T, And>;
      case GEX_OP_OR:
        return combine<T, Or>;
      case GEX_OP_XOR:
        return combine<T, Xor>;
      default:
        break;
    }
  }
  return nullptr;
}

}  // namespace

size_t built_in_bytes(gex_DT_t type) noexcept {
  switch (type) {
    case GEX_DT_I32:
    case GEX_DT_U32:
    case GEX_DT_FLT:
      return 4;
    case GEX_DT_I64:
    case GEX_DT_U64:
    case GEX_DT_DBL:
      return 8;
    default:
      return 0;
  }
}

BuiltInFunction built_in_function(gex_DT_t type, gex_OP_t op) noexcept {
  switch (type) {
    case GEX_DT_I32:
      return function_of<int32_t>(op);
    case GEX_DT_U32:
      return function_of<uint32_t>(op);
    case GEX_DT_I64:
      return function_of<int64_t>(op);
    case GEX_DT_U64:
      return function_of<uint64_t>(op);
    case GEX_DT_FLT:
      return function_of<float>(op);
    case GEX_DT_DBL:
      return function_of<double>(op);
    default:
      return nullptr;
  }
}

}  // namespace pinwire
