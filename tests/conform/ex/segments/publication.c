/* gex_EP_PublishBoundSegment ("Memory Kinds", 5). Pinwire asks for a segment that was not published
 * when it is wanted (EX-081), but not a handler that replies with a Long: so these replies show
 * what is known. A rank knows when its own call has returned, and until then nobody may send it a
 * request (EX-078): hence the barriers. */
#include "../endpoints/endpoints.h"

enum { kBytes = 8192, kPayload = 600, kAsk = 200, kAnswer = 201 };

/* ---- Longs that come to the asker's endpoint ------------------------------------------------- */

static unsigned char payload[kPayload];
static _Atomic int answers;

/* The destination is in the segment of the endpoint that the token names. */
static void on_ask(gex_Token_t token, gex_AM_Arg_t high, gex_AM_Arg_t low) {
  EXPECT(answers >= 0); /* it orders the payload before (cases.h) */
  const uintptr_t to = (uintptr_t)(uint32_t)high << 32 | (uint32_t)low;
  gex_AM_ReplyLong2(token, kAnswer, payload, kPayload, (void *)to, GEX_EVENT_NOW, 0, high, low);
}
static void on_answer(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t high,
                      gex_AM_Arg_t low) {
  (void)token;
  EXPECT_EQ((uintptr_t)buf, (uintptr_t)(uint32_t)high << 32 | (uint32_t)low);
  EXPECT(nbytes == kPayload && holds(buf, nbytes, 99));
  ++answers;
}

static gex_EP_t make_listener(void) {
  const gex_EP_t made = make_endpoint(GEX_EP_CAPABILITY_ALL);
  gex_AM_Entry_t table[] = {
      {kAsk, (gex_AM_Fn_t)on_ask, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 2, NULL, "ask"},
      {kAnswer, (gex_AM_Fn_t)on_answer, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REPLY, 2, NULL, "answer"}};
  EXPECT_EQ(gex_EP_RegisterHandlers(made, table, 2), GASNET_OK);
  fill(payload, sizeof payload, 99);
  answers = 0;
  return made;
}

static gex_Segment_t bind_segment(gex_EP_t ep) {
  const gex_Segment_t made = make_segment(NULL, kBytes);
  EXPECT_EQ(gex_EP_BindSegment(ep, made, 0), GASNET_OK);
  return made;
}

/* Every rank in turn answers into `at`, which is this rank's. */
static void expect_replies_to(gex_EP_t from, unsigned char *at) {
  const uintptr_t there = (uintptr_t)at;
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    const int due = answers + 1;
    EXPECT_EQ(
        gex_AM_RequestShort2(pair_of(from, from), rank, kAsk, 0,
                             (gex_AM_Arg_t)(uint32_t)(there >> 32), (gex_AM_Arg_t)(uint32_t)there),
        0);
    AWAIT(answers, due);
  }
}

/* All ranks in turn put to the segment of `rank` there, by any team that names the endpoint. */
static void expect_reached_by_all(gex_TM_t tm, gex_Rank_t rank) {
  unsigned char *there = memory_of(tm, rank, kBytes);
  expect_reached(tm, rank, there + me * 256, 256, me + rank);
  expect_reached(tm, rank, there + kBytes - 1 - me, 1, me);
}

static void drop(gex_Segment_t made) {
  barrier();
  gex_Segment_Destroy(made, 0);
  barrier();
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Even ranks name theirs, among one that has none; odd ranks name nothing. */
CASE(what_some_ranks_publish_all_reach, "EX-074 EX-075 EX-080 EX-138") {
  const gex_EP_t without = make_endpoint(GEX_EP_CAPABILITY_ALL), first = make_listener(),
                 second = make_listener();
  const gex_Segment_t own_first = bind_segment(first), own_second = bind_segment(second);
  gex_EP_t named[] = {second, without, first};
  barrier();
  if (me % 2 == 0)
    EXPECT_EQ(gex_EP_PublishBoundSegment(team, named, 3, 0), GASNET_OK);
  else
    EXPECT_EQ(gex_EP_PublishBoundSegment(team, NULL, 0, 0), GASNET_OK);
  barrier();
  if (me % 2 == 0) {
    expect_replies_to(first, gex_Segment_QueryAddr(own_first));
    expect_replies_to(second,
                      (unsigned char *)gex_Segment_QueryAddr(own_second) + kBytes - kPayload);
  }
  barrier();
  for (gex_Rank_t rank = 0; rank < nodes; rank += 2) {
    expect_reached_by_all(pair_of(endpoint, first), rank);
    expect_reached_by_all(pair_of(first, second), rank);
  }
  EXPECT(gex_EP_QuerySegment(without) == GEX_SEGMENT_INVALID);
  drop(own_first);
  drop(own_second);
}

CASE(nobody_publishes_anything, "EX-075 EX-080") {
  EXPECT_EQ(gex_EP_PublishBoundSegment(team, NULL, 0, 0), GASNET_OK);
  expect_reached(team, (me + 1) % nodes, part((me + 1) % nodes), 64, me);
  barrier();
}

/* At first it has no segment, which all hear; then it has one; then once more, beside that of the
 * team's endpoint, which gex_Segment_Attach had published. */
CASE(a_later_publication_replaces, "EX-074 EX-077 EX-080") {
  gex_EP_t named[] = {make_listener(), endpoint};
  const gex_TM_t tm = pair_of(endpoint, named[0]);
  uintptr_t bytes = 1;
  EXPECT_EQ(gex_EP_PublishBoundSegment(team, named, 1, 0), GASNET_OK);
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, (me + 1) % nodes, NULL, NULL, &bytes, 0));
  EXPECT_EQ(bytes, 0);
  barrier();
  const gex_Segment_t own = bind_segment(named[0]);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(gex_EP_PublishBoundSegment(team, named, i == 0 ? 1 : 2, 0), GASNET_OK);
    barrier();
    expect_replies_to(named[0], gex_Segment_QueryAddr(own));
    barrier();
    for (gex_Rank_t rank = 0; rank < nodes; ++rank) expect_reached_by_all(tm, rank);
    expect_reached(team, (me + 1) % nodes, part((me + 1) % nodes), 700, me);
    barrier();
  }
  drop(own);
}

/* Over a team whose ranks are others, and which is gone before anybody makes use of it. */
CASE(a_publication_outlives_its_team, "EX-074 EX-079") {
  gex_TM_t reverse = GEX_TM_INVALID, members_team = GEX_TM_INVALID;
  gex_EP_Location_t members[kNodesMax];
  gex_EP_t made = make_listener();
  const gex_Segment_t own = bind_segment(made);
  gex_TM_Split(&reverse, team, 0, (int)(nodes - me), NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  EXPECT_EQ(gex_EP_PublishBoundSegment(reverse, &made, 1, 0), GASNET_OK);
  gex_TM_Destroy(reverse, NULL, 0);
  barrier();
  expect_replies_to(made, gex_Segment_QueryAddr(own));
  barrier();
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    members[rank] = (gex_EP_Location_t){nodes - 1 - rank, gex_EP_QueryIndex(made)};
    expect_reached_by_all(pair_of(endpoint, made), rank);
    expect_reached_by_all(pair_of(made, made), rank);
  }
  gex_TM_Create(&members_team, 1, team, members, nodes, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) expect_reached_by_all(members_team, rank);
  barrier();
  gex_TM_Destroy(members_team, NULL, 0);
  drop(own);
}

/* Each rank over a team of its own: nobody else takes part. */
CASE(a_team_of_one_publishes, "EX-074 EX-075") {
  gex_TM_t alone = GEX_TM_INVALID;
  gex_EP_t made = make_listener();
  const gex_Segment_t own = bind_segment(made);
  const int due = answers + 1;
  const uintptr_t there = (uintptr_t)gex_Segment_QueryAddr(own);
  gex_TM_Split(&alone, team, (int)me, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  EXPECT_EQ(gex_EP_PublishBoundSegment(alone, &made, 1, 0), GASNET_OK);
  gex_AM_RequestShort2(pair_of(made, made), me, kAsk, 0, (gex_AM_Arg_t)(uint32_t)(there >> 32),
                       (gex_AM_Arg_t)(uint32_t)there);
  AWAIT(answers, due);
  barrier();
  gex_TM_Destroy(alone, NULL, 0);
  drop(own);
}
