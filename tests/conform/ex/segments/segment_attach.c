/* gex_Segment_Attach beside the calls of the additions: collective, once, over the first team. */
#include "../endpoints/endpoints.h"

static gex_Rank_t next(void) { return (me + 1) % nodes; }

/* Once, and over the first team alone: what else is asked for is refused, and the segment stays as
 * it is. */
JOB(attach_is_called_once, "EX-136", kNetwork, 0, "") {
  gex_Segment_t other = GEX_SEGMENT_INVALID;
  start_ex_job(0, GASNET_PAGESIZE);
  EXPECT(segment != GEX_SEGMENT_INVALID && gex_EP_QuerySegment(endpoint) == segment);
  EXPECT_EQ(gex_Segment_QuerySize(segment), GASNET_PAGESIZE);
  gex_System_SetVerboseErrors(0);
  EXPECT(gex_Segment_Attach(&other, team, GASNET_PAGESIZE) != GASNET_OK);
  gex_System_SetVerboseErrors(1);
  EXPECT(other == GEX_SEGMENT_INVALID && gex_EP_QuerySegment(endpoint) == segment);
  expect_reached(team, next(), memory_of(team, next(), GASNET_PAGESIZE), 500, me);
  barrier();
}

JOB(attach_takes_the_first_team, "EX-136", kNetwork, 0, "") {
  gex_TM_t copy = GEX_TM_INVALID;
  start_ex_job(0, 0);
  gex_TM_Split(&copy, team, 0, (int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  gex_System_SetVerboseErrors(0);
  EXPECT(gex_Segment_Attach(&segment, copy, GASNET_PAGESIZE) != GASNET_OK);
  gex_System_SetVerboseErrors(1);
  EXPECT(gex_EP_QuerySegment(endpoint) == GEX_SEGMENT_INVALID);
  EXPECT_EQ(gex_Segment_Attach(&segment, team, GASNET_PAGESIZE), GASNET_OK);
  expect_reached(team, next(), memory_of(team, next(), GASNET_PAGESIZE), 500, me);
  barrier();
}

/* Collective: nobody returns before all have called. */
JOB(attach_waits_for_all, "EX-136", kNetwork, 0, "") {
  start_ex_job(0, 0);
  if (me == 1) {
    for (int i = 0; i < 20000; ++i) gasnet_AMPoll();
    leave_mark("attaching");
  }
  EXPECT_EQ(gex_Segment_Attach(&segment, team, GASNET_PAGESIZE), GASNET_OK);
  EXPECT(is_marked("attaching"));
}

/* Without it the first endpoint takes a segment as the others do (EX-072), and then no other by
 * attach. */
JOB(first_endpoint_without_attach, "EX-066 EX-072 EX-074", kNetwork, 0, "") {
  start_ex_job(0, 0);
  const gex_Segment_t own = make_segment(NULL, 3 * GASNET_PAGESIZE);
  EXPECT_EQ(gex_EP_BindSegment(endpoint, own, 0), GASNET_OK);
  EXPECT_EQ(gex_EP_PublishBoundSegment(team, &endpoint, 1, 0), GASNET_OK);
  EXPECT(gex_EP_QuerySegment(endpoint) == own);
  unsigned char *there = memory_of(team, next(), 3 * GASNET_PAGESIZE);
  expect_reached(team, next(), there, 3 * GASNET_PAGESIZE, me);
  expect_reached(gex_TM_Pair(endpoint, 0), next(), there + 1, 4097, me + 1);
  barrier();
}
