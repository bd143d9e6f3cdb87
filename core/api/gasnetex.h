/* gasnetex.h: the GASNet-EX API, specification 0.19, as Pinwire supplies it.
 *
 * Modes and segment kinds are chosen as for gasnet.h, whose calls that have no successor are here, too: gasnet_exit,
 * gasnet_AMPoll, GASNET_BLOCKUNTIL, barriers, segment queries, gasnet_set_waitmode, ... (GX-015). A process
 * starts by gex_Client_Init or by gasnet_init and gasnet_attach, never by both (GX-006).
 *
 * Ranks are of the team that is passed; "jobrank" says those of the job. Unless a comment says otherwise a call
 * is legal from client threads only, after gex_Client_Init, outside handlers and held locks. "Anywhere": in
 * handlers and with locks held, too (GX-016). Objects belong to the library; their data (CData) is the client's.
 * Calls that return an int return GASNET_OK, or an error after a sentence on stderr that
 * gex_System_SetVerboseErrors can silence. */
#ifndef _INCLUDED_GASNETEX_H
#define _INCLUDED_GASNETEX_H

#include "gasnet_fwd.h"
#include "pinwire_core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What both APIs call differently (GX-009, GX-010) ------------------------------------------------ */

typedef gasnet_token_t gex_Token_t;
typedef gasnet_handler_t gex_AM_Index_t;
typedef gasnet_handlerarg_t gex_AM_Arg_t;
typedef gasnet_register_value_t gex_RMA_Value_t;
#define SIZEOF_GEX_RMA_VALUE_T SIZEOF_GASNET_REGISTER_VALUE_T
typedef gasnet_hsl_t gex_HSL_t;
#define GEX_HSL_INITIALIZER GASNET_HSL_INITIALIZER

typedef struct {
  void *gex_addr;
  size_t gex_len;
} gex_Memvec_t;

/* ---- Objects (GX-052): opaque, zero is none ---------------------------------------------------------- */

typedef struct pinwire_client *gex_Client_t;
typedef struct pinwire_ep *gex_EP_t;
typedef struct pinwire_segment *gex_Segment_t;
typedef struct pinwire_tm *gex_TM_t;
#define GEX_CLIENT_INVALID ((gex_Client_t)0)
#define GEX_EP_INVALID ((gex_EP_t)0)
#define GEX_SEGMENT_INVALID ((gex_Segment_t)0)
#define GEX_TM_INVALID ((gex_TM_t)0)

/* Kinds of memory (EX-043 to EX-052): the host's, and those of gasnet_mk.h. */
typedef struct pinwire_mk *gex_MK_t;
typedef gex_MK_t gex_MemKind_t; /* its name in the proposal, and that of the next but one */
#define GEX_MK_INVALID ((gex_MK_t)0)
#define GEX_MK_HOST ((gex_MK_t)(uintptr_t)1)
#define GEX_MEMKIND_HOST GEX_MK_HOST
#define GASNET_HAVE_MK_CLASS_HOST 1
/* Every library has all kinds. These tell whether the vendor's headers, which clients of a kind want, are there for the
 * compiler, as it is called (EX-048). */
#ifdef __has_include
#if __has_include(<cuda.h>)
#define GASNET_HAVE_MK_CLASS_CUDA_UVA 1
#endif
#if __has_include(<hip/hip_runtime.h>) && (defined(__HIP_PLATFORM_AMD__) || defined(__HIP_PLATFORM_HCC__))
#define GASNET_HAVE_MK_CLASS_HIP 1
#endif
#if __has_include(<level_zero/ze_api.h>)
#define GASNET_HAVE_MK_CLASS_ZE 1
#endif
#endif
#if defined(GASNET_HAVE_MK_CLASS_CUDA_UVA) || defined(GASNET_HAVE_MK_CLASS_HIP) || defined(GASNET_HAVE_MK_CLASS_ZE)
#define GASNET_HAVE_MK_CLASS_MULTIPLE 1
#endif

/* One pointer for each object, NULL at first (GX-054). Anywhere. */
void gex_Client_SetCData(gex_Client_t client, const void *val);
void *gex_Client_QueryCData(gex_Client_t client);
void gex_EP_SetCData(gex_EP_t ep, const void *val);
void *gex_EP_QueryCData(gex_EP_t ep);
void gex_Segment_SetCData(gex_Segment_t segment, const void *val);
void *gex_Segment_QueryCData(gex_Segment_t segment);
void gex_TM_SetCData(gex_TM_t tm, const void *val);
void *gex_TM_QueryCData(gex_TM_t tm);

/* ---- Client (GX-057 to GX-061) ------------------------------------------------------------------------ */

int pinwire_client_init(gex_Client_t *client_p, gex_EP_t *ep_p, gex_TM_t *tm_p, const char *name, gex_Flags_t flags, int segment_kind,
                        const char *config);

/* Starts the job; collective, once. The client's endpoint has index 0, and the team has that of every process.
 * `name`: not empty, the same everywhere; capital letters, digits and underscores by the specification, which Pinwire
 * does not insist on. argc, argv: both or neither; Pinwire changes neither. GASNET_ERR_BAD_ARG, GASNET_ERR_NOT_INIT when called again, GASNET_ERR_RESOURCE. */
static inline int gex_Client_Init(gex_Client_t *client_p, gex_EP_t *ep_p, gex_TM_t *tm_p, const char *name, int *argc, char ***argv,
                                  gex_Flags_t flags) {
  (void)argc, (void)argv;
  return pinwire_client_init(client_p, ep_p, tm_p, name, flags, PINWIRE_SEGMENT, GASNET_CONFIG_STRING);
}
/* Anywhere; the name is the library's copy. */
gex_Flags_t gex_Client_QueryFlags(gex_Client_t client);
const char *gex_Client_QueryName(gex_Client_t client);

/* Returns the objects that gex_Client_Init or gasnet_init and gasnet_attach made; any pointer may be NULL; the segment
 * is written only if there is one (GX-008). Anywhere. */
void gasnet_QueryGexObjects(gex_Client_t *client_p, gex_EP_t *endpoint_p, gex_TM_t *tm_p, gex_Segment_t *segment_p);

/* ---- Endpoints and segments (GX-062 to GX-067, GX-074 to GX-079, EX-001 to EX-086) ------------------------ */

/* Endpoints of a process, that of gex_Client_Init included. */
#define GASNET_MAXEPS 64
/* A further endpoint of this process, in no team, without a segment: its index is one more than the last one's, so
 * that peers that create them in the same order know it (EX-012). capabilities: GEX_EP_CAPABILITY_..., one or more.
 * flags: GEX_FLAG_HINT_ACCEL_..., kept for gex_EP_QueryFlags. Endpoints live as long as the job. GASNET_ERR_BAD_ARG;
 * GASNET_ERR_RESOURCE when there are GASNET_MAXEPS. */
int gex_EP_Create(gex_EP_t *ep_p, gex_Client_t client, gex_EP_Capabilities_t capabilities, gex_Flags_t flags);

/* Anywhere. */
gex_Client_t gex_EP_QueryClient(gex_EP_t ep);
gex_Flags_t gex_EP_QueryFlags(gex_EP_t ep);
gex_Segment_t gex_EP_QuerySegment(gex_EP_t ep);
gex_EP_Index_t gex_EP_QueryIndex(gex_EP_t ep);
gex_Client_t gex_Segment_QueryClient(gex_Segment_t segment);
gex_Flags_t gex_Segment_QueryFlags(gex_Segment_t segment);
void *gex_Segment_QueryAddr(gex_Segment_t segment);
uintptr_t gex_Segment_QuerySize(gex_Segment_t segment);

/* Allocates this process's segment and binds it to the endpoint of `tm`, the team of gex_Client_Init; collective,
 * once, a barrier. `size`: a multiple of GASNET_PAGESIZE, not 0, at most gasnet_getMaxLocalSegmentSize(); else
 * GASNET_ERR_BAD_ARG. EVERYTHING ignores it and gives GEX_SEGMENT_INVALID, as all memory is one (GX-065). */
int gex_Segment_Attach(gex_Segment_t *segment_p, gex_TM_t tm, uintptr_t size);

/* A segment of `length` bytes at `address`, of any alignment, which is the client's, mapped, readable and writable
 * until after gex_Segment_Destroy; address NULL: the library allocates it, whole pages, at most
 * gasnet_getMaxLocalSegmentSize() of the host's. kind: GEX_MK_HOST, or of gex_MK_Create (gasnet_mk.h), whose address is
 * one of the device. flags: 0. Local. Segments may overlap (EX-062).
 * GASNET_ERR_BAD_ARG, GASNET_ERR_RESOURCE; then *segment_p is left alone. */
int gex_Segment_Create(gex_Segment_t *segment_p, gex_Client_t client, gex_Addr_t address, uintptr_t length, gex_MK_t kind,
                       gex_Flags_t flags);
/* Destroys a segment that gex_Segment_Create made; all work on it is complete (EX-085). Its endpoints stay bound to
 * what is gone (EX-086). flags: 0. */
void gex_Segment_Destroy(gex_Segment_t segment, gex_Flags_t flags);
/* Binds an endpoint that has none to a segment of gex_Segment_Create; several endpoints may share one. Registers it
 * with the network. flags: 0. GASNET_ERR_BAD_ARG, GASNET_ERR_RESOURCE. The second is the proposal's form of it, for
 * which errors are fatal. */
int gex_EP_BindSegment(gex_EP_t ep, gex_Segment_t segment, gex_Flags_t flags);
void gex_Segment_EP_Bind(gex_Segment_t segment, gex_EP_t ep, gex_Flags_t flags);
/* Collective over `tm`: afterwards every caller may reach the segments of the endpoints that any of them passed. One
 * that nobody told of is asked for when it is wanted first, but not for a Long reply (EX-081). flags: 0.
 * GASNET_ERR_BAD_ARG, GASNET_ERR_RESOURCE. */
int gex_EP_PublishBoundSegment(gex_TM_t tm, gex_EP_t *eps, size_t num_eps, gex_Flags_t flags);

/* The segment of another endpoint: its address there, where this process has it mapped (else NULL), and its bytes;
 * 0 of them if there is none. Any pointer may be NULL. tm may be a TM-pair. Complete when it returns, though it may
 * have asked that process. Anywhere, with GEX_FLAG_IMMEDIATE (GX-018): GEX_EVENT_NO_OP if it would have to ask. */
gex_Event_t gex_EP_QueryBoundSegmentNB(gex_TM_t tm, gex_Rank_t rank, void **owneraddr_p, void **localaddr_p, uintptr_t *size_p,
                                       gex_Flags_t flags);
/* Its old form: non-zero, and nothing written, if there is none. */
int gex_Segment_QueryBound(gex_TM_t tm, gex_Rank_t rank, void **owneraddr_p, void **localaddr_p, uintptr_t *size_p);

/* Names `local_ep` and, by jobrank, the endpoints of that index, where a team is wanted for a put, get, message, for
 * limits of messages, or a segment; for nothing else (EX-126 to EX-133). A value, free to copy and drop. Anywhere. */
gex_TM_t gex_TM_Pair(gex_EP_t local_ep, gex_EP_Index_t remote_ep_index);
#define gex_TM_pair gex_TM_Pair

/* ---- The system (GX-024 to GX-028, GX-164 to GX-167, GX-080 to GX-084): anywhere ------------------------------ */

static inline gex_Rank_t gex_System_QueryJobRank(void) { return gasneti_mynode; }
static inline gex_Rank_t gex_System_QueryJobSize(void) { return gasneti_nodes; }

typedef const struct {
  gex_Rank_t gex_jobrank;
} gex_RankInfo_t;
/* The processes that share memory with this one, and those of its host; by jobrank. Any pointer may be NULL. */
void gex_System_QueryNbrhdInfo(gex_RankInfo_t **info_p, gex_Rank_t *info_count_p, gex_Rank_t *my_info_index_p);
void gex_System_QueryHostInfo(gex_RankInfo_t **info_p, gex_Rank_t *info_count_p, gex_Rank_t *my_info_index_p);
/* How many such sets the job has, and which one this process is in. */
void gex_System_QueryMyPosition(gex_Rank_t *nbrhd_set_size_p, gex_Rank_t *nbrhd_set_rank_p, gex_Rank_t *host_set_size_p,
                                gex_Rank_t *host_set_rank_p);

/* Whether calls that return an error say why on stderr: 1 at first. */
int gex_System_GetVerboseErrors(void);
void gex_System_SetVerboseErrors(int enable);
/* Client threads that may live at once (GASNET_MAX_THREADS). */
uint64_t gex_System_QueryMaxThreads(void);

/* A library thread, or a signal, may run handlers: in every mode of GASNET_DISPATCH but poll. */
#define GASNET_HIDDEN_AM_CONCURRENCY_LEVEL 1
int gex_System_QueryHiddenAMConcurrencyLevel(void);

/* Threads that a client with GEX_FLAG_DEFER_THREADS is to start: none, as Pinwire's start by themselves. Not
 * anywhere. GASNET_ERR_RESOURCE without that flag, GASNET_ERR_BAD_ARG for a NULL or flags. */
typedef struct {
  const char *gex_device_list;
  unsigned int gex_thread_roles;
  void *(*gex_progress_fn)(void *);
  void *gex_progress_arg;
} gex_ProgressThreadInfo_t;
#define GEX_THREAD_ROLE_RCV 1u
#define GEX_THREAD_ROLE_SND 2u
int gex_System_QueryProgressThreads(gex_Client_t client, unsigned int *count_p, const gex_ProgressThreadInfo_t **info_p,
                                    gex_Flags_t flags);

/* ---- Handler-safe locks (GX-168, GX-169): gasnet_hsl_t's -------------------------------------------------- */

#define gex_HSL_Init(hsl) gasnet_hsl_init(hsl)
#define gex_HSL_Destroy(hsl) gasnet_hsl_destroy(hsl)
#define gex_HSL_Lock(hsl) gasnet_hsl_lock(hsl)
#define gex_HSL_Trylock(hsl) gasnet_hsl_trylock(hsl)
#define gex_HSL_Unlock(hsl) gasnet_hsl_unlock(hsl)

#ifdef __cplusplus
}
#endif

#include "pinwire_ex_am.h"  /* active messages */
#include "pinwire_ex_np.h"  /* and those with negotiated payloads */
#include "pinwire_ex_rma.h" /* puts, gets, events */
#include "pinwire_ex_team.h" /* teams, the barrier */
#include "pinwire_ex_format.h" /* as text */

#endif
