/* Segments of all memory, for a program of which all is compiled for EVERYTHING; others have no
 * cases of this file (GASNet-EX 0.19, "Segments"). */
#include <unistd.h>

#include "../ex.h"

#ifdef GASNET_SEGMENT_EVERYTHING

enum { kWords = 3000 };
static uint64_t in_the_program[kWords];
static _Atomic int longs;
static void on_long(gex_Token_t token, void *buf, size_t nbytes) {
  (void)token;
  EXPECT(holds(buf, nbytes, 9));
  ++longs;
}

static void start(void) {
  gex_AM_Entry_t entry = {.gex_index = 200,
                          .gex_fnptr = (gex_AM_Fn_t)on_long,
                          .gex_flags = GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_LONG};
  EXPECT_EQ(gex_Client_Init(&client, &endpoint, &team, "CONFORM", &program_argc, &program_argv, 0),
            GASNET_OK);
  me = gex_TM_QueryRank(team);
  nodes = gex_TM_QuerySize(team);
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, &entry, 1), GASNET_OK);
  barrier();
}

/* Puts, gets and Longs to memory of the program, of the heap and of the stack of the next rank. */
static void use_memory_of_any_kind(void) {
  uint64_t on_the_stack[kWords], *in_the_heap = malloc(sizeof on_the_stack);
  uintptr_t places[3] = {(uintptr_t)in_the_program, (uintptr_t)in_the_heap,
                         (uintptr_t)on_the_stack};
  const gex_Rank_t next = (me + 1) % nodes;
  const size_t bytes = sizeof on_the_stack / 3;
  unsigned char *mine = malloc(3 * bytes), *back = malloc(bytes);
  for (gex_Rank_t root = 0; root < nodes; ++root) {
    uintptr_t theirs[3];
    gex_Event_Wait(gex_Coll_BroadcastNB(team, root, theirs, places, sizeof places, 0));
    if (root != next) continue;
    fill(mine, bytes, 9);
    for (int kind = 0; kind < 3; ++kind) {
      EXPECT_EQ(gex_RMA_PutBlocking(team, next, (void *)theirs[kind], mine, bytes, 0), 0);
      memset(back, 0, bytes);
      EXPECT_EQ(gex_RMA_GetBlocking(team, back, next, (void *)theirs[kind], bytes, 0), 0);
      EXPECT(holds(back, bytes, 9));
      gex_AM_RequestLong0(team, next, 200, mine, 400, (char *)theirs[kind] + bytes, GEX_EVENT_NOW,
                          0);
    }
  }
  AWAIT(longs, 3);
  barrier();
  EXPECT_EQ(longs, 3);
  for (int kind = 0; kind < 3; ++kind) EXPECT(holds((void *)places[kind], bytes, 9));
  longs = 0;
  barrier();
  free(mine), free(back), free(in_the_heap);
}

JOB(all_memory_without_attach, "GX-065", kNetwork, 0, "") {
  start();
  use_memory_of_any_kind();
}

/* No size is wrong; the last rank comes late, and nobody is through before it. */
static void attach_with(uintptr_t size) {
  start();
  segment = (gex_Segment_t)(uintptr_t)8;
  if (me == nodes - 1) {
    usleep(100000);
    leave_mark("last_attaches");
  }
  EXPECT_EQ(gex_Segment_Attach(&segment, team, size), GASNET_OK);
  EXPECT(is_marked("last_attaches"));
  EXPECT(segment == GEX_SEGMENT_INVALID);
  use_memory_of_any_kind();
}
JOB(attach_of_a_page, "GX-065", kNetwork, 0, "") { attach_with(GASNET_PAGESIZE); }
JOB(attach_of_nothing, "GX-065", kLocal, 0, "") { attach_with(0); }
JOB(attach_of_more_than_there_is, "GX-065", kLocal, 0, "") { attach_with(UINTPTR_MAX - 5); }
#endif
