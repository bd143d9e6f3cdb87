/* GASNet-EX's start of a job: gex_Client_Init, gex_Segment_Attach and gex_EP_RegisterHandlers. */
#include "ex.h"

enum { kHandlersMax = 120 }; /* GEX_AM_INDEX_BASE leaves 128 */

gex_Client_t client;
gex_EP_t endpoint;
gex_TM_t team;
gex_Segment_t segment;

static gex_AM_Entry_t handlers[kHandlersMax];
static gex_AM_Index_t *indices[kHandlersMax];
static size_t handler_count;

void add_ex_handler(void (*function)(), gex_Flags_t flags, unsigned nargs, const char *name,
                    gex_AM_Index_t *index) {
  if (handler_count == kHandlersMax) abort();
  const gex_AM_Entry_t entry = {.gex_index = 0,
                                .gex_fnptr = (gex_AM_Fn_t)function,
                                .gex_flags = flags,
                                .gex_nargs = nargs,
                                .gex_cdata = NULL,
                                .gex_name = name};
  handlers[handler_count] = entry;
  indices[handler_count++] = index;
}

static void learn_segments(void) {
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, rank, &segments[rank].addr, NULL,
                                              &segments[rank].size, 0));
  }
}

void start_ex_job(gex_Flags_t flags, uintptr_t segment_bytes) {
  if (gex_Client_Init(&client, &endpoint, &team, "CONFORM", &program_argc, &program_argv, flags) !=
      GASNET_OK)
    exit(3);
  me = gex_TM_QueryRank(team);
  nodes = gex_TM_QuerySize(team);
  if (nodes > kNodesMax) gasnet_exit(3);
  if (segment_bytes == 0) return;
  if (gex_Segment_Attach(&segment, team, segment_bytes) != GASNET_OK) gasnet_exit(3);
  learn_segments();
}

void start_shared_job(void) {
  start_ex_job(0, kSegmentBytes);
  if (gex_EP_RegisterHandlers(endpoint, handlers, handler_count) != GASNET_OK) gasnet_exit(3);
  for (size_t i = 0; i < handler_count; ++i) *indices[i] = handlers[i].gex_index;
}
