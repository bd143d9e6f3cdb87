/* gasnet_fwd.h: the part of the GASNet-EX API that a client's own public headers may show: types that stand
 * alone, and constants (GX-002). Includable in any order with the other headers; nothing here is a call.
 *
 * Values, and whether they have a sign, are those of GASNet-EX's release: clients assert them when they are compiled
 * (tests/unit/api/release_test.py). */
#ifndef _GEX_FWD_H
#define _GEX_FWD_H

#include <stdint.h>

#define GEX_SPEC_VERSION_MAJOR 0
#define GEX_SPEC_VERSION_MINOR 19

/* ---- Ranks, endpoints, addresses (GX-024, GX-029) ----------------------------------------------- */

typedef uint32_t gex_Rank_t;
#define GEX_RANK_INVALID ((gex_Rank_t)-1)
typedef uint16_t gex_EP_Index_t;
#define GEX_EP_INDEX_INVALID ((gex_EP_Index_t)-1)
/* gex_rank is a jobrank, but for gex_TM_Create without GEX_FLAG_RANK_IS_JOBRANK. */
typedef struct {
  gex_Rank_t gex_rank;
  gex_EP_Index_t gex_ep_index;
} gex_EP_Location_t;
typedef void *gex_Addr_t;

/* Uses of an endpoint (EX-017). */
typedef uint32_t gex_EP_Capabilities_t;
#define GEX_EP_CAPABILITY_RMA 1u
#define GEX_EP_CAPABILITY_AM 2u
#define GEX_EP_CAPABILITY_VIS 4u
#define GEX_EP_CAPABILITY_COLL 8u
#define GEX_EP_CAPABILITY_AD 16u
#define GEX_EP_CAPABILITY_ALL 31u

/* ---- Events (GX-030) ------------------------------------------------------------------------------ */

typedef struct pinwire_op *gex_Event_t;
#define GEX_EVENT_INVALID ((gex_Event_t)0)            /* complete already */
#define GEX_EVENT_NO_OP ((gex_Event_t)(uintptr_t)1)   /* nothing was started, as GEX_FLAG_IMMEDIATE allows */
/* In place of a pointer to an event, for local completion (GX-037). */
#define GEX_EVENT_NOW ((gex_Event_t *)(uintptr_t)1)   /* before the call returns */
#define GEX_EVENT_DEFER ((gex_Event_t *)(uintptr_t)2) /* with the operation */
#define GEX_EVENT_GROUP ((gex_Event_t *)(uintptr_t)3) /* by gex_NBI_Test and gex_NBI_Wait */

/* Kinds of implicit operations (GX-036). Local completion of messages and that of puts are one kind, and GEX_EC_PUT has
 * it, too: with any of the three a synchronisation waits for both. */
typedef unsigned int gex_EC_t;
#define GEX_EC_PUT 3u
#define GEX_EC_AM 2u
#define GEX_EC_LC 2u
#define GEX_EC_GET 4u
#define GEX_EC_RMW 8u
#define GEX_EC_ALL (~0u)

/* ---- Flags: those of one call are disjoint; unrelated calls share bits (GX-041 to GX-051) ----------- */

typedef uint32_t gex_Flags_t;

/* Calls that start communication. Bits 1 and 2 are also those of GEX_FLAG_AD_REL and _ACQ, which no put has. */
#define GEX_FLAG_IMMEDIATE (1u << 0)
#define GEX_FLAG_LC_COPY_YES (1u << 1)
#define GEX_FLAG_LC_COPY_NO (1u << 2)
#define GEX_FLAG_SELF_SEG_UNKNOWN (1u << 3)
#define GEX_FLAG_SELF_SEG_SOME (1u << 4)
#define GEX_FLAG_SELF_SEG_BOUND (1u << 5)
#define GEX_FLAG_SELF_SEG_OFFSET (1u << 6)
#define GEX_FLAG_PEER_SEG_UNKNOWN (1u << 7)
#define GEX_FLAG_PEER_SEG_SOME (1u << 8)
#define GEX_FLAG_PEER_SEG_BOUND (1u << 9)
#define GEX_FLAG_PEER_SEG_OFFSET (1u << 10)
#define GEX_FLAG_ENABLE_LEAF_LC (1u << 11)
#define GEX_FLAG_PEER_NEVER_NBRHD (1u << 14)
#define GEX_FLAG_PEER_NEVER_SELF (1u << 15)

/* gex_AM_Prepare... and gex_AM_Max...; no put or atomic. */
#define GEX_FLAG_AM_PREPARE_LEAST_CLIENT (1u << 11)
#define GEX_FLAG_AM_PREPARE_LEAST_ALLOC (1u << 12)

/* Operations of atomic domains; RANK_IS_JOBRANK also gex_TM_Create. */
#define GEX_FLAG_AD_REL (1u << 1)
#define GEX_FLAG_AD_ACQ (1u << 2)
#define GEX_FLAG_AD_MY_RANK (1u << 11)
#define GEX_FLAG_AD_MY_NBRHD (1u << 12)
#define GEX_FLAG_RANK_IS_JOBRANK (1u << 13)

/* gex_AD_Create. */
#define GEX_FLAG_AD_FAVOR_MY_RANK (1u << 0)
#define GEX_FLAG_AD_FAVOR_MY_NBRHD (1u << 1)
#define GEX_FLAG_AD_FAVOR_REMOTE (1u << 2)

/* gex_Client_Init. */
#define GEX_FLAG_USES_GASNET1 (1u << 0)
#define GEX_FLAG_DEFER_THREADS (1u << 1)

/* An entry for gex_EP_RegisterHandlers: one category, one kind (GX-086). */
#define GEX_FLAG_AM_SHORT (1u << 0)
#define GEX_FLAG_AM_MEDIUM (1u << 1)
#define GEX_FLAG_AM_LONG (1u << 2)
#define GEX_FLAG_AM_MEDLONG (GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_LONG)
#define GEX_FLAG_AM_REQUEST (1u << 3)
#define GEX_FLAG_AM_REPLY (1u << 4)
#define GEX_FLAG_AM_REQREP (GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_REPLY)

/* gex_TM_Split, gex_TM_Create, gex_TM_Dup, gex_TM_Destroy. */
#define GEX_FLAG_TM_SCRATCH_SIZE_MIN (1u << 0)
#define GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED (1u << 1)
#define GEX_FLAG_TM_GLOBAL_SCRATCH (1u << 2)
#define GEX_FLAG_TM_LOCAL_SCRATCH (1u << 3)
#define GEX_FLAG_TM_SYMMETRIC_SCRATCH (1u << 4)
#define GEX_FLAG_TM_NO_SCRATCH (1u << 5)
#define GEX_FLAG_SCRATCH_SEG_OFFSET (1u << 6)
#define GEX_FLAG_GLOBALLY_QUIESCED (1u << 13)

/* gex_EP_Create. */
#define GEX_FLAG_HINT_ACCEL_AD (1u << 0)
#define GEX_FLAG_HINT_ACCEL_COLL (1u << 1)
#define GEX_FLAG_HINT_ACCEL_ALL (GEX_FLAG_HINT_ACCEL_AD | GEX_FLAG_HINT_ACCEL_COLL)

/* ---- Data types and operations of atomics and reductions (GX-149, GX-150) ---------------------------- */

typedef uint32_t gex_DT_t;
#define GEX_DT_I32 (1 << 0)
#define GEX_DT_U32 (1 << 1)
#define GEX_DT_I64 (1 << 2)
#define GEX_DT_U64 (1 << 3)
#define GEX_DT_FLT (1 << 4)
#define GEX_DT_DBL (1 << 5)
#define GEX_DT_USER (1 << 6)

typedef uint32_t gex_OP_t;
#define GEX_OP_AND (1 << 0)
#define GEX_OP_OR (1 << 1)
#define GEX_OP_XOR (1 << 2)
#define GEX_OP_ADD (1 << 3)
#define GEX_OP_SUB (1 << 4)
#define GEX_OP_MULT (1 << 5)
#define GEX_OP_MIN (1 << 6)
#define GEX_OP_MAX (1 << 7)
#define GEX_OP_INC (1 << 8)
#define GEX_OP_DEC (1 << 9)
#define GEX_OP_SET (1 << 10)
#define GEX_OP_CAS (1 << 11)
/* Bits 12 to 14 are no operations. Those that return the old value are 15 bits above those that do not. */
#define GEX_OP_FAND (1 << 15)
#define GEX_OP_FOR (1 << 16)
#define GEX_OP_FXOR (1 << 17)
#define GEX_OP_FADD (1 << 18)
#define GEX_OP_FSUB (1 << 19)
#define GEX_OP_FMULT (1 << 20)
#define GEX_OP_FMIN (1 << 21)
#define GEX_OP_FMAX (1 << 22)
#define GEX_OP_FINC (1 << 23)
#define GEX_OP_FDEC (1 << 24)
#define GEX_OP_SWAP (1 << 25)
#define GEX_OP_FCAS (1 << 26)
#define GEX_OP_CSWAP GEX_OP_FCAS /* its old name */
#define GEX_OP_GET (1 << 27)
#define GEX_OP_USER (1 << 30)
#define GEX_OP_USER_NC (1u << 31)
#define GEX_OP_TO_FETCHING(op) ((op) << 15)
#define GEX_OP_TO_NONFETCHING(op) ((op) >> 15)

#endif
