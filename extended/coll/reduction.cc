#include "extended/coll/reduction.h"

#include <cstdint>
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

template <typename T, typename Op>
void combine(const void* a, void* b_and_out, size_t count, const void*) noexcept {
  const T* from = static_cast<const T*>(a);
  T* to = static_cast<T*>(b_and_out);
  for (size_t i = 0; i < count; ++i) to[i] = Op::of(from[i], to[i]);
}

template <typename T>
ReduceFunction function_of(gex_OP_t op) noexcept {
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

ReduceFunction built_in_function(gex_DT_t type, gex_OP_t op) noexcept {
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
