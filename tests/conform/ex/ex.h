/* Used by cases of GASNet-EX beside those of cases.h. */
#ifndef PINWIRE_CONFORM_EX_H
#define PINWIRE_CONFORM_EX_H

#include "../cases.h"
#include "gasnet_coll.h"
#include "gasnet_mk.h"
#include "gasnet_ratomic.h"
#include "gasnet_vis.h"

/* The shared job's: of a client that is no client of GASNet-1 (flags 0), with a segment of
 * kSegmentBytes, and its primordial team. In a JOB, what start_ex_job() made. */
extern gex_Client_t client;
extern gex_EP_t endpoint;
extern gex_TM_t team;
extern gex_Segment_t segment;

/* A handler of the shared job; `fn_index` is what gex_EP_RegisterHandlers gave it (index 0,
 * GX-088). `flags` as gex_AM_Entry_t takes them: GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, say. */
void add_ex_handler(void (*function)(), gex_Flags_t flags, unsigned nargs, const char *name,
                    gex_AM_Index_t *index);
#define EX_HANDLER(fn, flags, nargs)                                   \
  static gex_AM_Index_t fn##_index;                                    \
  __attribute__((constructor)) static void add_ex_handler_##fn(void) { \
    add_ex_handler((gex_AM_Fn_t)fn, flags, nargs, #fn, &fn##_index);   \
  }                                                                    \
  typedef int fn##_is_a_handler

/* gex_Client_Init for a JOB, and gex_Segment_Attach unless segment_bytes is 0; ends the process
 * when one fails. */
void start_ex_job(gex_Flags_t flags, uintptr_t segment_bytes);

/* Waits, polling, until the counter has come to `count`. */
#define AWAIT(counter, count) GASNET_BLOCKUNTIL((counter) >= (count))

/* Gathers the value that each rank of a team passes, on all of them. Collective. */
static inline void tell_all(gex_TM_t tm, uintptr_t mine, uintptr_t *all) {
  for (gex_Rank_t root = 0; root < gex_TM_QuerySize(tm); ++root)
    gex_Event_Wait(gex_Coll_BroadcastNB(tm, root, &all[root], &mine, sizeof mine, 0));
}

/* In a handler: the message comes from that rank of the job. */
static inline void expect_sender(gex_Token_t token, gex_Rank_t jobrank) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  EXPECT_EQ(info.gex_srcrank, jobrank);
}

/* All ranks, the last first: a team whose ranks are not the job's. Collective. */
static inline gex_TM_t backwards(void) {
  gex_TM_t tm = GEX_TM_INVALID;
  gex_TM_Split(&tm, team, 0, -(int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  return tm;
}

#endif
