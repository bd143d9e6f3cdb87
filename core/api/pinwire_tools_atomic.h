/* pinwire_tools_atomic.h: atomic integers. Included by gasnet_tools.h only.
 *
 *   gasnett_atomic_t      32 bits; ordinary instructions where there is one thread
 *   gasnett_atomic32_t    the same, of exactly the size and alignment of uint32_t
 *   gasnett_atomic64_t    64 bits
 *   gasnett_strongatomic... the same three, atomic in every mode (also against signal handlers)
 *
 * No operation orders other memory but by its flags. They are legal anywhere. */
#ifndef PINWIRE_TOOLS_ATOMIC_H
#define PINWIRE_TOOLS_ATOMIC_H

#define GASNETT_ATOMIC_NONE 0
#define GASNETT_ATOMIC_RMB_PRE 0x01
#define GASNETT_ATOMIC_WMB_PRE 0x02
#define GASNETT_ATOMIC_MB_PRE 0x03
#define GASNETT_ATOMIC_RMB_POST 0x04
#define GASNETT_ATOMIC_WMB_POST 0x08
#define GASNETT_ATOMIC_MB_POST 0x0c
#define GASNETT_ATOMIC_RMB_POST_IF_TRUE 0x10
#define GASNETT_ATOMIC_RMB_POST_IF_FALSE 0x20
#define GASNETT_ATOMIC_REL GASNETT_ATOMIC_WMB_PRE
#define GASNETT_ATOMIC_ACQ GASNETT_ATOMIC_RMB_POST
#define GASNETT_ATOMIC_ACQ_IF_TRUE GASNETT_ATOMIC_RMB_POST_IF_TRUE
#define GASNETT_ATOMIC_ACQ_IF_FALSE GASNETT_ATOMIC_RMB_POST_IF_FALSE

#define GASNETT_HAVE_ATOMIC_ADD_SUB 1
#define GASNETT_HAVE_ATOMIC_CAS 1
#define GASNETT_HAVE_STRONGATOMIC_ADD_SUB 1
#define GASNETT_HAVE_STRONGATOMIC_CAS 1

#define GASNETT_ATOMIC_MAX ((gasnett_atomic_val_t)0xffffffffU)
#define GASNETT_ATOMIC_SIGNED_MIN ((gasnett_atomic_sval_t)(-2147483647 - 1))
#define GASNETT_ATOMIC_SIGNED_MAX ((gasnett_atomic_sval_t)2147483647)

GASNETT_BEGIN_EXTERNC

typedef uint32_t gasnett_atomic_val_t;
typedef int32_t gasnett_atomic_sval_t;
#define gasnett_atomic_signed(value) ((gasnett_atomic_sval_t)(value))

/* A flag that asks for no fence costs nothing: flags are constants to the inlined functions. */
GASNETT_INLINE(pinwire_fence_before) void pinwire_fence_before(int flags) {
  if (flags & GASNETT_ATOMIC_WMB_PRE)
    gasnett_local_wmb();
  else if (flags & GASNETT_ATOMIC_RMB_PRE)
    gasnett_local_rmb();
}
GASNETT_INLINE(pinwire_fence_after) void pinwire_fence_after(int flags) {
  if (flags & GASNETT_ATOMIC_WMB_POST)
    gasnett_local_wmb();
  else if (flags & GASNETT_ATOMIC_RMB_POST)
    gasnett_local_rmb();
}
GASNETT_INLINE(pinwire_fence_after_test) void pinwire_fence_after_test(int flags, int result) {
  pinwire_fence_after(flags);
  if (flags & (result ? GASNETT_ATOMIC_RMB_POST_IF_TRUE : GASNETT_ATOMIC_RMB_POST_IF_FALSE))
    gasnett_local_rmb();
}

/* The operations of one type: those that read and write are locked instructions if IS_ATOMIC. Pointers to
 * integers of the same size may be cast to pointers to NAME_t. */
#define PINWIRE_ATOMIC_TYPE(NAME, VALUE, IS_ATOMIC)                                                   \
  typedef struct {                                                                                    \
    VALUE pinwire_value;                                                                              \
  } __attribute__((__may_alias__)) NAME##_t;                                                          \
  GASNETT_INLINE(NAME##_read) VALUE NAME##_read(const NAME##_t *p, int flags) {                       \
    VALUE now;                                                                                        \
    pinwire_fence_before(flags);                                                                      \
    now = __atomic_load_n(&p->pinwire_value, __ATOMIC_RELAXED);                                       \
    pinwire_fence_after(flags);                                                                       \
    return now;                                                                                       \
  }                                                                                                   \
  GASNETT_INLINE(NAME##_set) void NAME##_set(NAME##_t *p, VALUE value, int flags) {                   \
    pinwire_fence_before(flags);                                                                      \
    __atomic_store_n(&p->pinwire_value, value, __ATOMIC_RELAXED);                                     \
    pinwire_fence_after(flags);                                                                       \
  }                                                                                                   \
  GASNETT_INLINE(NAME##_add) VALUE NAME##_add(NAME##_t *p, VALUE value, int flags) {                  \
    VALUE now;                                                                                        \
    pinwire_fence_before(flags);                                                                      \
    now = (IS_ATOMIC) ? __atomic_add_fetch(&p->pinwire_value, value, __ATOMIC_RELAXED)                \
                      : (p->pinwire_value += value);                                                  \
    pinwire_fence_after(flags);                                                                       \
    return now;                                                                                       \
  }                                                                                                   \
  GASNETT_INLINE(NAME##_subtract) VALUE NAME##_subtract(NAME##_t *p, VALUE value, int flags) {        \
    return NAME##_add(p, (VALUE)(0 - value), flags);                                                  \
  }                                                                                                   \
  GASNETT_INLINE(NAME##_increment) void NAME##_increment(NAME##_t *p, int flags) {                    \
    (void)NAME##_add(p, 1, flags);                                                                    \
  }                                                                                                   \
  GASNETT_INLINE(NAME##_decrement) void NAME##_decrement(NAME##_t *p, int flags) {                    \
    (void)NAME##_add(p, (VALUE)0 - 1, flags);                                                         \
  }                                                                                                   \
  GASNETT_INLINE(NAME##_decrement_and_test) int NAME##_decrement_and_test(NAME##_t *p, int flags) {   \
    const int is_zero = NAME##_add(p, (VALUE)0 - 1, flags) == 0;                                      \
    pinwire_fence_after_test(flags & ~GASNETT_ATOMIC_MB_POST, is_zero);                               \
    return is_zero;                                                                                   \
  }                                                                                                   \
  GASNETT_INLINE(NAME##_swap) VALUE NAME##_swap(NAME##_t *p, VALUE value, int flags) {                \
    VALUE before;                                                                                     \
    pinwire_fence_before(flags);                                                                      \
    before = (IS_ATOMIC) ? __atomic_exchange_n(&p->pinwire_value, value, __ATOMIC_RELAXED)            \
                         : p->pinwire_value;                                                          \
    if (!(IS_ATOMIC)) p->pinwire_value = value;                                                       \
    pinwire_fence_after(flags);                                                                       \
    return before;                                                                                    \
  }                                                                                                   \
  GASNETT_INLINE(NAME##_compare_and_swap)                                                             \
  int NAME##_compare_and_swap(NAME##_t *p, VALUE expected, VALUE value, int flags) {                  \
    int is_swapped;                                                                                   \
    pinwire_fence_before(flags);                                                                      \
    if (IS_ATOMIC) {                                                                                  \
      is_swapped = __atomic_compare_exchange_n(&p->pinwire_value, &expected, value, 0,                \
                                               __ATOMIC_RELAXED, __ATOMIC_RELAXED);                   \
    } else {                                                                                          \
      is_swapped = p->pinwire_value == expected;                                                      \
      if (is_swapped) p->pinwire_value = value;                                                       \
    }                                                                                                 \
    pinwire_fence_after_test(flags, is_swapped);                                                      \
    return is_swapped;                                                                                \
  }

PINWIRE_ATOMIC_TYPE(gasnett_atomic, uint32_t, PINWIRE_TOOLS_THREADS)
PINWIRE_ATOMIC_TYPE(gasnett_atomic32, uint32_t, PINWIRE_TOOLS_THREADS)
PINWIRE_ATOMIC_TYPE(gasnett_atomic64, uint64_t, PINWIRE_TOOLS_THREADS)
PINWIRE_ATOMIC_TYPE(gasnett_strongatomic, uint32_t, 1)
PINWIRE_ATOMIC_TYPE(gasnett_strongatomic32, uint32_t, 1)
PINWIRE_ATOMIC_TYPE(gasnett_strongatomic64, uint64_t, 1)

/* Initialisers of static and automatic variables. */
#define gasnett_atomic_init(value) {(uint32_t)(value)}
#define gasnett_atomic32_init(value) {(uint32_t)(value)}
#define gasnett_atomic64_init(value) {(uint64_t)(value)}
#define gasnett_strongatomic_init(value) {(uint32_t)(value)}
#define gasnett_strongatomic32_init(value) {(uint32_t)(value)}
#define gasnett_strongatomic64_init(value) {(uint64_t)(value)}

GASNETT_END_EXTERNC

#endif
