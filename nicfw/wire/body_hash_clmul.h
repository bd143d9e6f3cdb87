// The implementations of BodyHash by carry-less multiplication, in 128-bit and 512-bit vectors.
#pragma once

#include "nicfw/wire/hash_variant.h"

#if defined(__x86_64__)
namespace pinwire {
extern const HashVariant kBodyHash128;  ///< PCLMULQDQ
extern const HashVariant kBodyHash512;  ///< VPCLMULQDQ and AVX-512
}  // namespace pinwire
#endif
