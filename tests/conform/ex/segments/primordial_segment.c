/* gex_Segment_Attach, and what is asked of its segment (GASNet-EX 0.19, "Segments"). */
#include <unistd.h>

#include "../ex.h"

CASE(declarations, "GX-062") {
  gex_Client_t (*const owner)(gex_Segment_t) = gex_Segment_QueryClient;
  gex_Flags_t (*const flags)(gex_Segment_t) = gex_Segment_QueryFlags;
  void *(*const address)(gex_Segment_t) = gex_Segment_QueryAddr;
  uintptr_t (*const size)(gex_Segment_t) = gex_Segment_QuerySize;
  int (*const attach)(gex_Segment_t *, gex_TM_t, uintptr_t) = gex_Segment_Attach;
  EXPECT(owner(segment) == client);
  EXPECT_EQ(flags(segment), 0);
  EXPECT(address(segment) == segments[me].addr);
  EXPECT_EQ(size(segment), kSegmentBytes);
  EXPECT(attach != NULL);
}

CASE(segment_is_bound_to_the_endpoint, "GX-063") {
  EXPECT(gex_EP_QuerySegment(endpoint) == segment);
  EXPECT_EQ((uintptr_t)gex_Segment_QueryAddr(segment) % GASNET_PAGESIZE, 0);
}

/* Rank r asks for r + 1 pages; the last one comes late, and nobody is through before it. */
JOB(attach_is_a_barrier_and_sizes_differ, "GX-060 GX-063", kNetwork, 0, "") {
  start_ex_job(0, 0);
  EXPECT(gex_EP_QuerySegment(endpoint) == GEX_SEGMENT_INVALID);
  if (me == nodes - 1) {
    usleep(150000);
    leave_mark("last_attaches");
  }
  EXPECT_EQ(gex_Segment_Attach(&segment, team, (me + 1) * GASNET_PAGESIZE), GASNET_OK);
  EXPECT(is_marked("last_attaches"));
  EXPECT(segment != GEX_SEGMENT_INVALID && gex_EP_QuerySegment(endpoint) == segment);
  EXPECT_EQ(gex_Segment_QuerySize(segment), (me + 1) * GASNET_PAGESIZE);
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    void *address = NULL;
    uintptr_t size = 0;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, rank, &address, NULL, &size, 0));
    EXPECT_EQ(size, (rank + 1) * GASNET_PAGESIZE);
    if (rank == me) EXPECT(address == gex_Segment_QueryAddr(segment));
    /* All of it is there: one byte of each rank from the end. */
    gex_RMA_PutBlockingVal(team, rank, (char *)address + size - 1 - me, 100 + me, 1, 0);
  }
  barrier();
  const unsigned char *end =
      (unsigned char *)gex_Segment_QueryAddr(segment) + gex_Segment_QuerySize(segment);
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) EXPECT_EQ(end[-1 - (int)rank], 100 + rank);
}

/* The largest that may be asked for is given. */
JOB(largest_segment, "GX-063", kLocal, 0, "") {
  setenv("GASNET_MAX_SEGSIZE", "1048576", 1);
  start_ex_job(0, 0);
  const uintptr_t largest = gasnet_getMaxLocalSegmentSize();
  EXPECT(largest >= GASNET_PAGESIZE && largest % GASNET_PAGESIZE == 0);
  EXPECT_EQ(gex_Segment_Attach(&segment, team, largest), GASNET_OK);
  EXPECT_EQ(gex_Segment_QuerySize(segment), largest);
  memset(gex_Segment_QueryAddr(segment), 7, largest);
  EXPECT(all_bytes_are(gex_Segment_QueryAddr(segment), largest, 7));
}

/* Before it, messages without memory at the target go already. */
static _Atomic int came;
static void on_come(gex_Token_t token) {
  (void)token;
  ++came;
}
JOB(messages_need_no_segment, "GX-060", kNetwork, 0, "") {
  gex_AM_Entry_t entry = {.gex_index = 200,
                          .gex_fnptr = (gex_AM_Fn_t)on_come,
                          .gex_flags = GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT};
  start_ex_job(0, 0);
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, &entry, 1), GASNET_OK);
  barrier();
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) gex_AM_RequestShort0(team, rank, 200, 0);
  AWAIT(came, (int)nodes);
  EXPECT_EQ(came, nodes);
}
