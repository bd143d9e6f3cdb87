// The implementations of BodyHash by carry-less multiplication, in 128-bit and 512-bit vectors.
#pragma once

#include "nicfw/body_hash.h"

#if defined(__x86_64__)
namespace pinwire {
extern const BodyHash::Variant kBodyHash128;  ///< PCLMULQDQ
extern const BodyHash::Variant kBodyHash512;  ///< VPCLMULQDQ and AVX-512
}  // namespace pinwire
#endif
