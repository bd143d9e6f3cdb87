/* gasnet_fwd.h: the part of the GASNet-EX API that a client's own public headers may show: types that stand
 * alone, and constants (GX-002). Includable in any order with the other headers; nothing here is a call. */
#ifndef _GEX_FWD_H
#define _GEX_FWD_H

#include <stdint.h>

#define GEX_SPEC_VERSION_MAJOR 0
#define GEX_SPEC_VERSION_MINOR 19

/* ---- Ranks, endpoints, addresses (GX-024, GX-029) ----------------------------------------------- */

typedef uint32_t gex_Rank_t;
#define GEX_RANK_INVALID ((gex_Rank_t)-1)
typedef uint32_t gex_EP_Index_t;
#define GEX_EP_INDEX_INVALID ((gex_EP_Index_t)-1)
typedef void *gex_Addr_t;

/* What an endpoint is used for (EX-017). */
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

/* Kinds of implicit operations (GX-036). */
typedef uint32_t gex_EC_t;
#define GEX_EC_GET 1u
#define GEX_EC_PUT 2u
#define GEX_EC_AM 4u
#define GEX_EC_LC 8u
#define GEX_EC_RMW 16u
#define GEX_EC_ALL 31u

/* ---- Flags: those of one call are disjoint; unrelated calls share bits (GX-041 to GX-051) ----------- */

typedef uint32_t gex_Flags_t;

/* Of whatever starts communication. */
#define GEX_FLAG_IMMEDIATE 0x1u
#define GEX_FLAG_LC_COPY_YES 0x2u
#define GEX_FLAG_LC_COPY_NO 0x4u
#define GEX_FLAG_PEER_NEVER_SELF 0x8u
#define GEX_FLAG_PEER_NEVER_NBRHD 0x10u
#define GEX_FLAG_ENABLE_LEAF_LC 0x20u
#define GEX_FLAG_AM_PREPARE_LEAST_CLIENT 0x40u
#define GEX_FLAG_AM_PREPARE_LEAST_ALLOC 0x80u
#define GEX_FLAG_SELF_SEG_UNKNOWN 0x100u
#define GEX_FLAG_SELF_SEG_SOME 0x200u
#define GEX_FLAG_SELF_SEG_BOUND 0x400u
#define GEX_FLAG_SELF_SEG_OFFSET 0x800u
#define GEX_FLAG_PEER_SEG_UNKNOWN 0x1000u
#define GEX_FLAG_PEER_SEG_SOME 0x2000u
#define GEX_FLAG_PEER_SEG_BOUND 0x4000u
#define GEX_FLAG_PEER_SEG_OFFSET 0x8000u

/* Of atomic domains and their operations; RANK_IS_JOBRANK also of gex_TM_Create. */
#define GEX_FLAG_AD_MY_RANK 0x10000u
#define GEX_FLAG_AD_MY_NBRHD 0x20000u
#define GEX_FLAG_AD_ACQ 0x40000u
#define GEX_FLAG_AD_REL 0x80000u
#define GEX_FLAG_AD_FAVOR_MY_RANK 0x100000u
#define GEX_FLAG_AD_FAVOR_MY_NBRHD 0x200000u
#define GEX_FLAG_AD_FAVOR_REMOTE 0x400000u
#define GEX_FLAG_RANK_IS_JOBRANK 0x800000u

/* Of gex_Client_Init. */
#define GEX_FLAG_USES_GASNET1 0x1u
#define GEX_FLAG_DEFER_THREADS 0x2u

/* Of an entry for gex_EP_RegisterHandlers: one category, one kind (GX-086). */
#define GEX_FLAG_AM_SHORT 0x1u
#define GEX_FLAG_AM_MEDIUM 0x2u
#define GEX_FLAG_AM_LONG 0x4u
#define GEX_FLAG_AM_MEDLONG 0x6u
#define GEX_FLAG_AM_REQUEST 0x8u
#define GEX_FLAG_AM_REPLY 0x10u
#define GEX_FLAG_AM_REQREP 0x18u

/* Of gex_TM_Split, gex_TM_Create, gex_TM_Dup, gex_TM_Destroy. */
#define GEX_FLAG_TM_SCRATCH_SIZE_MIN 0x1u
#define GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED 0x2u
#define GEX_FLAG_TM_GLOBAL_SCRATCH 0x4u
#define GEX_FLAG_TM_LOCAL_SCRATCH 0x8u
#define GEX_FLAG_TM_SYMMETRIC_SCRATCH 0x10u
#define GEX_FLAG_TM_NO_SCRATCH 0x20u
#define GEX_FLAG_SCRATCH_SEG_OFFSET 0x40u
#define GEX_FLAG_GLOBALLY_QUIESCED 0x80u

/* Of gex_EP_Create. */
#define GEX_FLAG_HINT_ACCEL_AD 0x1u
#define GEX_FLAG_HINT_ACCEL_COLL 0x2u
#define GEX_FLAG_HINT_ACCEL_ALL 0x3u

/* ---- Data types and operations of atomics and reductions (GX-149, GX-150) ---------------------------- */

typedef uint32_t gex_DT_t;
#define GEX_DT_I32 0x1u
#define GEX_DT_U32 0x2u
#define GEX_DT_I64 0x4u
#define GEX_DT_U64 0x8u
#define GEX_DT_FLT 0x10u
#define GEX_DT_DBL 0x20u
#define GEX_DT_USER 0x40u

typedef uint32_t gex_OP_t;
#define GEX_OP_ADD 0x1u
#define GEX_OP_SUB 0x2u
#define GEX_OP_MULT 0x4u
#define GEX_OP_MIN 0x8u
#define GEX_OP_MAX 0x10u
#define GEX_OP_INC 0x20u
#define GEX_OP_DEC 0x40u
#define GEX_OP_AND 0x80u
#define GEX_OP_OR 0x100u
#define GEX_OP_XOR 0x200u
#define GEX_OP_SET 0x400u
#define GEX_OP_CAS 0x800u
/* What returns the old value is twelve bits above what does not. */
#define GEX_OP_FADD 0x1000u
#define GEX_OP_FSUB 0x2000u
#define GEX_OP_FMULT 0x4000u
#define GEX_OP_FMIN 0x8000u
#define GEX_OP_FMAX 0x10000u
#define GEX_OP_FINC 0x20000u
#define GEX_OP_FDEC 0x40000u
#define GEX_OP_FAND 0x80000u
#define GEX_OP_FOR 0x100000u
#define GEX_OP_FXOR 0x200000u
#define GEX_OP_SWAP 0x400000u
#define GEX_OP_FCAS 0x800000u
#define GEX_OP_CSWAP GEX_OP_FCAS /* its old name */
#define GEX_OP_GET 0x1000000u
#define GEX_OP_USER 0x2000000u
#define GEX_OP_USER_NC 0x4000000u
#define GEX_OP_TO_FETCHING(op) ((op) << 12)
#define GEX_OP_TO_NONFETCHING(op) ((op) >> 12)

#endif
