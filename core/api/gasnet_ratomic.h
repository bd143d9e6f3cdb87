/* gasnet_ratomic.h: remote atomics of the GASNet-EX API (GX-154 to GX-163): domains, and operations on them.
 *
 * Operations are atomic with those of the same domain alone: while a domain works on a location, nothing else may read
 * or write it, neither its owner's loads and stores nor puts, gets and other domains (GX-157). Memory that this process
 * has mapped, its own memory and that of peers that share memory with it, is worked on here, by the processor's
 * atomics: done when the call returns. Everything else is done by the owner's NIC or CPU, with those same atomics; or,
 * in a domain of several hosts whose operations are all the NICs', everything is, this process's memory included
 * (pinwire_ad_path()). */
#ifndef _INCLUDED_GASNET_RATOMIC_H
#define _INCLUDED_GASNET_RATOMIC_H

#include <string.h>

#include "gasnetex.h"
#include "pinwire_atomic.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Domains (GX-154 to GX-156) ------------------------------------------------------------------------ */

typedef struct pinwire_ad *gex_AD_t;
#define GEX_AD_INVALID ((gex_AD_t)0)

/* Collective over `tm`, with the same arguments everywhere: one data type, all operations that the domain will have,
 * and at most one of the FAVOR flags: hints. FAVOR_MY_RANK and FAVOR_MY_NBRHD keep to the processors what NICs whose
 * atomics do not meet theirs would do all of (64-bit integers, of ADD, SUB, INC, DEC, CAS, their fetching forms and
 * GET). No barrier, no communication. A wrong argument is fatal, with a sentence. */
void gex_AD_Create(gex_AD_t *ad_p, gex_TM_t tm, gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags);
/* Collective; operations on the domain are complete everywhere before any member calls. No barrier. */
void gex_AD_Destroy(gex_AD_t ad);

/* The arguments that it was created with; its data is the client's, NULL at first. Anywhere. */
gex_Flags_t gex_AD_QueryFlags(gex_AD_t ad);
gex_TM_t gex_AD_QueryTM(gex_AD_t ad);
gex_DT_t gex_AD_QueryDT(gex_AD_t ad);
gex_OP_t gex_AD_QueryOps(gex_AD_t ad);
void gex_AD_SetCData(gex_AD_t ad, const void *val);
void *gex_AD_QueryCData(gex_AD_t ad);

/* ---- Operations (GX-157 to GX-162) ---------------------------------------------------------------------- */

/* First of every domain. */
struct pinwire_ad_team {
  gex_TM_t tm;
};

/* Everything that is not inlined; operands as bits, in the low-order bytes. */
gex_Event_t pinwire_ad_nb(gex_AD_t ad, gex_DT_t dt, void *result_p, gex_Rank_t rank, void *addr, gex_OP_t op, uint64_t a, uint64_t b,
                          gex_Flags_t flags);
int pinwire_ad_nbi(gex_AD_t ad, gex_DT_t dt, void *result_p, gex_Rank_t rank, void *addr, gex_OP_t op, uint64_t a, uint64_t b,
                   gex_Flags_t flags);

/* Where the operation is done by this process at once, or NULL; about twelve instructions before the atomic one. In
 * debug builds, which check every call, and with an operation that the compiler does not know, the library looks, and
 * does it at once in the same cases. */
#ifdef GASNET_DEBUG
#define pinwire_ad_here(ad, rank, addr, bytes, op, flags) ((void)(flags), (void *)0)
#else
#define pinwire_ad_here(ad, rank, addr, bytes, op, flags) \
  (__builtin_constant_p(op) ? pinwire_ad_mapped(ad, rank, addr, bytes, flags) : (void *)0)
#endif
static inline void *pinwire_ad_mapped(gex_AD_t ad, gex_Rank_t rank, void *addr, size_t bytes, gex_Flags_t flags) {
  const gex_TM_t tm = ((const struct pinwire_ad_team *)(const void *)ad)->tm;
  /* Which member a jobrank is, other teams than that of all first endpoints must be asked. */
  if ((flags & GEX_FLAG_RANK_IS_JOBRANK) && ((const struct pinwire_members *)(const void *)tm)->targets) return (void *)0;
  return pinwire_direct(pinwire_target(tm, rank), addr, (const void *)0, bytes);
}

#define PINWIRE_OP_FETCHES(op) (((op) & (2 * GEX_OP_GET - GEX_OP_FAND)) != 0)

/* gex_Event_t gex_AD_OpNB_DT(gex_AD_t ad, TYPE *result_p, gex_Rank_t tgt_rank, void *tgt_addr, gex_OP_t opcode,
 *                            TYPE operand1, TYPE operand2, gex_Flags_t flags);
 * int gex_AD_OpNBI_DT(... likewise ...);
 * DT and TYPE: I32 int32_t, U32 uint32_t, I64 int64_t, U64 uint64_t, FLT float, DBL double.
 *
 * tgt_addr: in the segment of the target's endpoint, aligned for the type. For CAS and FCAS operand1 is the expected value
 * and operand2 the new value; operations without operands or a result ignore them. *result_p may be read after
 * synchronisation. NB: GEX_EVENT_INVALID when it is done; any thread synchronises. NBI returns 0, and counts as GEX_EC_PUT for SET, as
 * GEX_EC_GET for GET, else as GEX_EC_RMW (GX-159).
 * flags: GEX_FLAG_AD_REL, no access of this thread before it, nor effect of what it synchronised, comes after it;
 * GEX_FLAG_AD_ACQ, no access of the thread that synchronises comes before it; GEX_FLAG_AD_MY_RANK or _MY_NBRHD, it is
 * there; GEX_FLAG_RANK_IS_JOBRANK; GEX_FLAG_IMMEDIATE, which does nothing where there is no room, and returns
 * GEX_EVENT_NO_OP or 1. */
#define PINWIRE_AD_OPERATIONS(name, type)                                                                                   \
  static inline uint64_t pinwire_bits_##name(type value) {                                                                  \
    uint64_t bits = 0;                                                                                                      \
    memcpy(&bits, &value, sizeof value);                                                                                    \
    return bits;                                                                                                            \
  }                                                                                                                         \
  PINWIRE_ALWAYS_INLINE void pinwire_ad_##name(void *at, type *result_p, gex_OP_t op, type a, type b, gex_Flags_t flags) {          \
    type old;                                                                                                               \
    pinwire_atomic_before(op, flags);                                                                                       \
    old = pinwire_atomic_##name((type *)at, op, a, b);                                                                      \
    pinwire_atomic_after(op, flags);                                                                                        \
    if (PINWIRE_OP_FETCHES(op)) *result_p = old;                                                                            \
  }                                                                                                                         \
  PINWIRE_ALWAYS_INLINE gex_Event_t gex_AD_OpNB_##name(gex_AD_t ad, type *result_p, gex_Rank_t tgt_rank, void *tgt_addr,    \
                                                       gex_OP_t opcode, type operand1, type operand2, gex_Flags_t flags) {          \
    void *const at = pinwire_ad_here(ad, tgt_rank, tgt_addr, sizeof(type), opcode, flags);                                  \
    if (!at)                                                                                                                \
      return pinwire_ad_nb(ad, GEX_DT_##name, result_p, tgt_rank, tgt_addr, opcode, pinwire_bits_##name(operand1),          \
                           pinwire_bits_##name(operand2), flags);                                                           \
    pinwire_ad_##name(at, result_p, opcode, operand1, operand2, flags);                                                     \
    return GEX_EVENT_INVALID;                                                                                               \
  }                                                                                                                         \
  PINWIRE_ALWAYS_INLINE int gex_AD_OpNBI_##name(gex_AD_t ad, type *result_p, gex_Rank_t tgt_rank, void *tgt_addr, gex_OP_t opcode,  \
                                        type operand1, type operand2, gex_Flags_t flags) {                                  \
    void *const at = pinwire_ad_here(ad, tgt_rank, tgt_addr, sizeof(type), opcode, flags);                                  \
    if (!at)                                                                                                                \
      return pinwire_ad_nbi(ad, GEX_DT_##name, result_p, tgt_rank, tgt_addr, opcode, pinwire_bits_##name(operand1),         \
                            pinwire_bits_##name(operand2), flags);                                                          \
    pinwire_ad_##name(at, result_p, opcode, operand1, operand2, flags);                                                     \
    return 0;                                                                                                               \
  }
PINWIRE_AD_OPERATIONS(I32, int32_t)
PINWIRE_AD_OPERATIONS(U32, uint32_t)
PINWIRE_AD_OPERATIONS(I64, int64_t)
PINWIRE_AD_OPERATIONS(U64, uint64_t)
PINWIRE_AD_OPERATIONS(FLT, float)
PINWIRE_AD_OPERATIONS(DBL, double)
#undef PINWIRE_AD_OPERATIONS

#ifdef __cplusplus
}
#endif

#endif
