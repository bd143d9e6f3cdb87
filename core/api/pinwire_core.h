/* pinwire_core.h: the GASNet-1 API, specification 1.8.1, on which the GASNet-EX API stands. Included by
 * gasnet.h and gasnetex.h only.
 *
 * Define exactly one of GASNET_SEQ, GASNET_PARSYNC, GASNET_PAR before including either and link the
 * library of that name: libgasnet-pinwire-{seq,parsync,par}.a. A mismatch fails at link time, at
 * gasnet_init. GASNET_SEGMENT_{FAST,LARGE,EVERYTHING} may be defined too; FAST if none (C1-045).
 *
 * Unless a comment says otherwise a call is legal from client threads only, after gasnet_attach,
 * outside handlers and No-Interrupt Sections (C1-174, C1-184), and errors of the extended API are
 * fatal: a sentence on stderr, then SIGABRT (C1-025, C1-207). Addresses are virtual addresses of the
 * node named beside them; sizes are bytes. Section numbers are those of the specification. */
#ifndef PINWIRE_CORE_H
#define PINWIRE_CORE_H

#if defined(GASNET_SEQ) + defined(GASNET_PARSYNC) + defined(GASNET_PAR) != 1
#error "define exactly one of GASNET_SEQ, GASNET_PARSYNC, GASNET_PAR before including gasnet.h or gasnetex.h (C1-012)"
#endif
#if defined(GASNET_SEGMENT_FAST) + defined(GASNET_SEGMENT_LARGE) + defined(GASNET_SEGMENT_EVERYTHING) > 1
#error "define at most one of GASNET_SEGMENT_FAST, GASNET_SEGMENT_LARGE, GASNET_SEGMENT_EVERYTHING"
#endif
#if !defined(GASNET_SEGMENT_LARGE) && !defined(GASNET_SEGMENT_EVERYTHING) && !defined(GASNET_SEGMENT_FAST)
#define GASNET_SEGMENT_FAST 1
#endif

#include "gasnet_fwd.h"
#include "gasnet_tools.h" /* GASNet's tools, and what its headers name: compiler, platform, formats */

#if defined(GASNET_PAR) != defined(GASNETT_THREAD_SAFE) || defined(GASNETT_LITE_MODE)
#error "include gasnet.h or gasnetex.h before gasnet_tools.h, or define GASNET_{SEQ,PARSYNC,PAR} before both"
#endif

/* ---- 1.8 Constants ------------------------------------------------------------------------- */

/* Also GASNET_RELEASE_VERSION_{MAJOR,MINOR,PATCH}, from gasnet_config.h. */
#define GASNET_SPEC_VERSION_MAJOR GASNETI_SPEC_VERSION_MAJOR
#define GASNET_SPEC_VERSION_MINOR GASNETI_SPEC_VERSION_MINOR
#define GASNET_VERSION GASNET_SPEC_VERSION_MAJOR

#define GASNET_CONDUIT_PINWIRE 1
#define GASNET_PINWIRE_CONDUIT 1
#define GASNET_CONDUIT_NAME PINWIRE
#define GASNET_CONDUIT_NAME_STR "PINWIRE"

#if defined(GASNET_SEQ)
#define PINWIRE_MODE SEQ
#define PINWIRE_INIT pinwire_init_seq
#elif defined(GASNET_PARSYNC)
#define PINWIRE_MODE PARSYNC
#define PINWIRE_INIT pinwire_init_parsync
#else
#define PINWIRE_MODE PAR
#define PINWIRE_INIT pinwire_init_par
#endif
#if defined(GASNET_SEGMENT_EVERYTHING)
#define PINWIRE_SEGMENT_NAME EVERYTHING
#define PINWIRE_SEGMENT 2
#define PINWIRE_PSHM_STRING "nopshm"
#elif defined(GASNET_SEGMENT_LARGE)
#define PINWIRE_SEGMENT_NAME LARGE
#define PINWIRE_SEGMENT 1
#define PINWIRE_PSHM_STRING "pshm"
#else
#define PINWIRE_SEGMENT_NAME FAST
#define PINWIRE_SEGMENT 0
#define PINWIRE_PSHM_STRING "pshm"
#endif

/* Two clients with equal strings are compatible (C1-041). */
#define PINWIRE_CONFIG_OF(mode, segment, pshm)                                                             \
  "RELEASE=" PINWIRE_RELEASE_STRING ",SPEC=" _STRINGIFY(GEX_SPEC_VERSION_MAJOR) "." _STRINGIFY(            \
      GEX_SPEC_VERSION_MINOR) ",CONDUIT=PINWIRE,THREADMODEL=" mode ",SEGMENT=" segment ",PTR=64bit,noalign," pshm \
  "," PINWIRE_DEBUG_STRING ",notrace,nostats"
#define GASNET_CONFIG_STRING PINWIRE_CONFIG_OF(_STRINGIFY(PINWIRE_MODE), _STRINGIFY(PINWIRE_SEGMENT_NAME), PINWIRE_PSHM_STRING)

#define GASNET_MAXNODES 65535
#define GASNET_ALIGNED_SEGMENTS 0
#if PINWIRE_SEGMENT == 2
#define GASNET_PSHM 0 /* all of a process's memory cannot be mapped by another */
#else
#define GASNET_PSHM 1 /* segments of one host are mapped by all its nodes */
#endif
#define GASNET_CORE_NAME PINWIRE
#define GASNET_CORE_NAME_STR _STRINGIFY(GASNET_CORE_NAME)
#define GASNET_CORE_VERSION PINWIRE_RELEASE
#define GASNET_CORE_VERSION_STR _STRINGIFY(GASNET_CORE_VERSION)
#define GASNET_EXTENDED_NAME PINWIRE
#define GASNET_EXTENDED_NAME_STR _STRINGIFY(GASNET_EXTENDED_NAME)
#define GASNET_EXTENDED_VERSION PINWIRE_RELEASE
#define GASNET_EXTENDED_VERSION_STR _STRINGIFY(GASNET_EXTENDED_VERSION)
#define GASNET_NULL_ARGV_OK 1 /* gasnet_init and gex_Client_Init take NULL for argc and argv */
#define GASNET_PAGESIZE GASNETT_PAGESIZE

#define GASNET_OK 0
#define GASNET_ERR_NOT_INIT 10001
#define GASNET_ERR_RESOURCE 10002
#define GASNET_ERR_BAD_ARG 10003
#define GASNET_ERR_NOT_READY 10004
#define GASNET_ERR_BARRIER_MISMATCH 10005

#define GASNET_BARRIERFLAG_ANONYMOUS 1
#define GASNET_BARRIERFLAG_MISMATCH 2
#define GASNET_BARRIERFLAG_UNNAMED (GASNET_BARRIERFLAG_ANONYMOUS | 8) /* of GASNet-EX's clients: so do all nodes */

#define GASNET_WAIT_SPIN 0
#define GASNET_WAIT_BLOCK 1
#define GASNET_WAIT_SPINBLOCK 2

#define SIZEOF_GASNET_REGISTER_VALUE_T 8

/* ---- 1.7 Types ----------------------------------------------------------------------------- */

typedef uint32_t gasnet_node_t;
typedef uint8_t gasnet_handler_t;
typedef int32_t gasnet_handlerarg_t;
typedef uint64_t gasnet_register_value_t;
typedef struct pinwire_token *gasnet_token_t;
typedef struct pinwire_op *gasnet_handle_t;
typedef struct pinwire_value_op *gasnet_valget_handle_t;
typedef void *gasnet_threadinfo_t;

/* All bytes zero (C1-226). */
#define GASNET_INVALID_HANDLE ((gasnet_handle_t)0)

#if defined(__clang__) && !defined(__cplusplus) /* of the function without a prototype */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wstrict-prototypes"
#endif
typedef struct {
  gasnet_handler_t index; /* 0: any free one; the table is updated in place (C1-077) */
  void (*fnptr)();
} gasnet_handlerentry_t;
#if defined(__clang__) && !defined(__cplusplus)
#pragma clang diagnostic pop
#endif

typedef struct {
  void *addr;
  uintptr_t size;
} gasnet_seginfo_t;

typedef struct {
  void *addr;
  size_t len;
} gasnet_memvec_t; /* a piece of memory, for transfers of many (gasnet_vis.h) */

typedef struct {
  gasnet_node_t host;      /* equal for nodes of one host */
  gasnet_node_t supernode; /* equal for nodes that share memory */
  intptr_t offset;         /* of a segment that is mapped here: our address less its owner's */
} gasnet_nodeinfo_t;

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What a program may not mix ------------------------------------------------------------------ */

/* Every object of a client refers to a name of its library's mode, build and release: with any other it does
 * not link. The section that they fill together tells gasnet_init if their segment kinds differ. */
#define PINWIRE_LIBRARY_OF_MODE PINWIRE_PASTE4(pinwire_compiled_for_, PINWIRE_MODE, _, PINWIRE_BUILD_TOKEN)
extern const char PINWIRE_LIBRARY_OF_MODE;
struct pinwire_unit {
  const char *config; /* GASNET_CONFIG_STRING; a segment kind that is not the default is an identification string, too */
  const char *library;
};
#ifndef PINWIRE_LIBRARY
/* The library's own strings say FAST, and hold the one `$GASNetConfig`: compiler drivers refuse two of those. */
#if PINWIRE_SEGMENT == 0
#define PINWIRE_SEGMENT_IDENT ""
#else
#define PINWIRE_SEGMENT_IDENT "\0$GASNetSegment: GASNET_SEGMENT_" _STRINGIFY(PINWIRE_SEGMENT_NAME) " $"
#endif
static struct pinwire_unit pinwire_this_unit PINWIRE_RETAIN __attribute__((__section__("pinwire_units"))) = {
    GASNET_CONFIG_STRING PINWIRE_SEGMENT_IDENT, &PINWIRE_LIBRARY_OF_MODE};
#endif

/* ---- 2.1 Job control ----------------------------------------------------------------------- */

int PINWIRE_INIT(int *argc, char ***argv, int segment_kind, const char *config);

/* First GASNet call, once per process; may change argc and argv, either of which may be NULL.
 * GASNET_ERR_NOT_INIT when called again, GASNET_ERR_RESOURCE after a sentence on stderr. */
static inline int gasnet_init(int *argc, char ***argv) {
  return PINWIRE_INIT(argc, argv, PINWIRE_SEGMENT, GASNET_CONFIG_STRING);
}

/* Registers handlers, creates the segment, brings the network up; a barrier over all nodes (C1-087).
 * segsize: a multiple of GASNET_PAGESIZE, clamped to gasnet_getMaxLocalSegmentSize(); 0: no segment.
 * minheapoffset is ignored: segments live in their own mapping (C1-081). EVERYTHING ignores both. */
int gasnet_attach(gasnet_handlerentry_t *table, int numentries, uintptr_t segsize,
                  uintptr_t minheapoffset);

/* Legal from gasnet_init on. Both keep their start-up value after attach (C1-096). EVERYTHING:
 * (uintptr_t)-1, and gasnet_getSegmentInfo says NULL and as many bytes for every node (C1-114). */
uintptr_t gasnet_getMaxLocalSegmentSize(void);
uintptr_t gasnet_getMaxGlobalSegmentSize(void);

/* Beyond the specification. A function that a client stores here before it attaches is called with its segment, mapped
 * and not yet pinned: it may touch the pages from several threads, or bind them to NUMA nodes. A client may define it,
 * too. */
extern void (*gasnet_client_attach_hook)(void *segment, uintptr_t bytes);

/* Ends the job with `exitcode` on any node at any moment after gasnet_init, handlers, No-Interrupt
 * Sections and held HSLs included; never returns (C1-098...108). */
void gasnet_exit(int exitcode) __attribute__((noreturn));

/* ---- 2.2 Job environment: legal anywhere after gasnet_init ------------------------------------ */

/* Variables of GASNet-EX's own; tools that include no header of GASNet's read them by their names. Before gasnet_init they are
 * (gasnet_node_t)-1 and 0. */
extern gasnet_node_t gasneti_mynode;
extern gasnet_node_t gasneti_nodes;
static inline gasnet_node_t gasnet_mynode(void) { return gasneti_mynode; }
static inline gasnet_node_t gasnet_nodes(void) { return gasneti_nodes; }

int gasnet_getSegmentInfo(gasnet_seginfo_t *seginfo_table, int numentries);
/* Beyond the specification. Numbers of hosts and supernodes count from 0. */
int gasnet_getNodeInfo(gasnet_nodeinfo_t *nodeinfo_table, int numentries);
/* The environment that spawned the job; owned by the library (C1-115). */
char *gasnet_getenv(const char *name);

/* Strings owned by the library; never NULL, for any value (C1-027, C1-029). */
const char *gasnet_ErrorName(int errval);
const char *gasnet_ErrorDesc(int errval);

#ifdef __cplusplus
}
#endif

#include "pinwire_am.h"  /* 2.3, 2.4: active messages, atomicity */
#include "pinwire_rma.h" /* 3: puts, gets, synchronisation, barriers */

#endif
