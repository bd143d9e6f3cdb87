/* pinwire_atomic.h: what each operation of an atomic domain does to memory that this process can load and store
 * (GX-150 to GX-153). Included by gasnet_ratomic.h, whose inlined calls and whose library have this one meaning of them.
 *
 * pinwire_atomic_DT(at, op, a, b) returns the old value; of GEX_OP_SET nothing of use. With a constant `op` it is one
 * instruction where the processor has one, else a loop of compare-exchanges; it is lock-free, so handlers run it
 * anywhere. Memory order: acquire and release; what GET and SET lack of that is in pinwire_atomic_before and _after.
 * Integers wrap. CAS compares bits, also those of floats (GX-153). */
#ifndef PINWIRE_ATOMIC_H
#define PINWIRE_ATOMIC_H

#include "gasnet_fwd.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PINWIRE_ALWAYS_INLINE static inline __attribute__((__always_inline__))

/* GX-161. A load releases nothing and a store acquires nothing by itself. */
static inline void pinwire_atomic_before(gex_OP_t op, gex_Flags_t flags) {
  if (op == GEX_OP_GET && (flags & GEX_FLAG_AD_REL)) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline void pinwire_atomic_after(gex_OP_t op, gex_Flags_t flags) {
  if (op == GEX_OP_SET && (flags & GEX_FLAG_AD_ACQ)) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#define PINWIRE_ATOMIC_MIN_OR_MAX(op, old, a) \
  ((op) & (GEX_OP_MIN | GEX_OP_FMIN) ? ((old) < (a) ? (old) : (a)) : ((old) > (a) ? (old) : (a)))

#define PINWIRE_ATOMIC_INTEGER(name, type, unsigned_type)                                                      \
  PINWIRE_ALWAYS_INLINE type pinwire_atomic_##name(type *at, gex_OP_t op, type a, type b) {                    \
    type old, wanted;                                                                                          \
    switch (op) {                                                                                              \
      case GEX_OP_GET: return __atomic_load_n(at, __ATOMIC_ACQUIRE);                                           \
      case GEX_OP_SET: __atomic_store_n(at, a, __ATOMIC_RELEASE); return 0;                                    \
      case GEX_OP_SWAP: return __atomic_exchange_n(at, a, __ATOMIC_ACQ_REL);                                   \
      case GEX_OP_CAS:                                                                                         \
      case GEX_OP_FCAS:                                                                                        \
        old = a;                                                                                               \
        __atomic_compare_exchange_n(at, &old, b, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);                       \
        return old;                                                                                            \
      case GEX_OP_ADD:                                                                                         \
      case GEX_OP_FADD: return __atomic_fetch_add(at, a, __ATOMIC_ACQ_REL);                                    \
      case GEX_OP_SUB:                                                                                         \
      case GEX_OP_FSUB: return __atomic_fetch_sub(at, a, __ATOMIC_ACQ_REL);                                    \
      case GEX_OP_INC:                                                                                         \
      case GEX_OP_FINC: return __atomic_fetch_add(at, (type)1, __ATOMIC_ACQ_REL);                              \
      case GEX_OP_DEC:                                                                                         \
      case GEX_OP_FDEC: return __atomic_fetch_sub(at, (type)1, __ATOMIC_ACQ_REL);                              \
      case GEX_OP_AND:                                                                                         \
      case GEX_OP_FAND: return __atomic_fetch_and(at, a, __ATOMIC_ACQ_REL);                                    \
      case GEX_OP_OR:                                                                                          \
      case GEX_OP_FOR: return __atomic_fetch_or(at, a, __ATOMIC_ACQ_REL);                                      \
      case GEX_OP_XOR:                                                                                         \
      case GEX_OP_FXOR: return __atomic_fetch_xor(at, a, __ATOMIC_ACQ_REL);                                    \
      default: break; /* those that no processor has */                                                        \
    }                                                                                                          \
    old = __atomic_load_n(at, __ATOMIC_RELAXED);                                                               \
    do {                                                                                                       \
      wanted = op & (GEX_OP_MULT | GEX_OP_FMULT) ? (type)((unsigned_type)old * (unsigned_type)a)               \
                                                 : PINWIRE_ATOMIC_MIN_OR_MAX(op, old, a);                      \
    } while (!__atomic_compare_exchange_n(at, &old, wanted, 1, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));           \
    return old;                                                                                                \
  }

/* Floats have the operations of integers, but those on bits (GX-150). */
#define PINWIRE_ATOMIC_FLOAT(name, type)                                                                       \
  PINWIRE_ALWAYS_INLINE type pinwire_atomic_##name(type *at, gex_OP_t op, type a, type b) {                    \
    type old, wanted;                                                                                          \
    switch (op) {                                                                                              \
      case GEX_OP_GET: __atomic_load(at, &old, __ATOMIC_ACQUIRE); return old;                                  \
      case GEX_OP_SET: __atomic_store(at, &a, __ATOMIC_RELEASE); return 0;                                     \
      case GEX_OP_SWAP: __atomic_exchange(at, &a, &old, __ATOMIC_ACQ_REL); return old;                         \
      case GEX_OP_CAS:                                                                                         \
      case GEX_OP_FCAS:                                                                                        \
        old = a;                                                                                               \
        __atomic_compare_exchange(at, &old, &b, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);                        \
        return old;                                                                                            \
      default: break;                                                                                          \
    }                                                                                                          \
    __atomic_load(at, &old, __ATOMIC_RELAXED);                                                                 \
    do {                                                                                                       \
      if (op & (GEX_OP_ADD | GEX_OP_FADD)) wanted = old + a;                                                   \
      else if (op & (GEX_OP_SUB | GEX_OP_FSUB)) wanted = old - a;                                              \
      else if (op & (GEX_OP_INC | GEX_OP_FINC)) wanted = old + 1;                                              \
      else if (op & (GEX_OP_DEC | GEX_OP_FDEC)) wanted = old - 1;                                              \
      else if (op & (GEX_OP_MULT | GEX_OP_FMULT)) wanted = old * a;                                            \
      else wanted = PINWIRE_ATOMIC_MIN_OR_MAX(op, old, a);                                                     \
    } while (!__atomic_compare_exchange(at, &old, &wanted, 1, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));            \
    return old;                                                                                                \
  }

PINWIRE_ATOMIC_INTEGER(I32, int32_t, uint32_t)
PINWIRE_ATOMIC_INTEGER(U32, uint32_t, uint32_t)
PINWIRE_ATOMIC_INTEGER(I64, int64_t, uint64_t)
PINWIRE_ATOMIC_INTEGER(U64, uint64_t, uint64_t)
PINWIRE_ATOMIC_FLOAT(FLT, float)
PINWIRE_ATOMIC_FLOAT(DBL, double)

#undef PINWIRE_ATOMIC_INTEGER
#undef PINWIRE_ATOMIC_FLOAT
#undef PINWIRE_ATOMIC_MIN_OR_MAX

#ifdef __cplusplus
}
#endif

#endif
