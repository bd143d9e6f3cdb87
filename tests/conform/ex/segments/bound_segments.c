/* The segments of endpoints, here and elsewhere (GASNet-EX 0.19, "Endpoints"). */
#include "../ex.h"

CASE(declarations, "GX-074") {
  gex_Client_t (*const owner)(gex_EP_t) = gex_EP_QueryClient;
  gex_Flags_t (*const flags)(gex_EP_t) = gex_EP_QueryFlags;
  gex_Segment_t (*const bound)(gex_EP_t) = gex_EP_QuerySegment;
  gex_EP_Index_t (*const index)(gex_EP_t) = gex_EP_QueryIndex;
  gex_Event_t (*const query)(gex_TM_t, gex_Rank_t, void **, void **, uintptr_t *, gex_Flags_t) =
      gex_EP_QueryBoundSegmentNB;
  int (*const old_query)(gex_TM_t, gex_Rank_t, void **, void **, uintptr_t *) =
      gex_Segment_QueryBound;
  int (*const publish)(gex_TM_t, gex_EP_t *, size_t, gex_Flags_t) = gex_EP_PublishBoundSegment;
  EXPECT(owner(endpoint) == client && bound(endpoint) == segment);
  EXPECT_EQ(flags(endpoint), 0);
  EXPECT_EQ(index(endpoint), 0);
  EXPECT(query != NULL && old_query != NULL && publish != NULL);
}

/* The result of a query, before anything was asked for. */
struct answer {
  void *owner, *here;
  uintptr_t bytes;
};
static const struct answer nothing = {(void *)(uintptr_t)1, (void *)(uintptr_t)2, 3};

static struct answer ask(gex_TM_t tm, gex_Rank_t rank) {
  struct answer answer = nothing;
  const gex_Event_t root =
      gex_EP_QueryBoundSegmentNB(tm, rank, &answer.owner, &answer.here, &answer.bytes, 0);
  EXPECT(root != GEX_EVENT_NO_OP);
  gex_Event_Wait(root);
  return answer;
}

/* Each owner says where its segment is: everybody is given that. */
CASE(address_and_size_are_the_owners, "GX-076 GX-078") {
  uintptr_t addresses[kNodesMax], sizes[kNodesMax];
  tell_all(team, (uintptr_t)gex_Segment_QueryAddr(segment), addresses);
  tell_all(team, gex_Segment_QuerySize(segment), sizes);
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    const struct answer answer = ask(team, rank);
    EXPECT_EQ((uintptr_t)answer.owner, addresses[rank]);
    EXPECT_EQ(answer.bytes, sizes[rank]);
    if (rank == me) EXPECT(answer.here == answer.owner);
  }
}

CASE(any_output_may_be_left_out, "GX-076") {
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    const struct answer whole = ask(team, rank);
    for (unsigned set = 0; set < 8; ++set) {
      struct answer answer = nothing;
      gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, rank, set & 1 ? &answer.owner : NULL,
                                                set & 2 ? &answer.here : NULL,
                                                set & 4 ? &answer.bytes : NULL, 0));
      EXPECT(answer.owner == (set & 1 ? whole.owner : nothing.owner));
      EXPECT(answer.here == (set & 2 ? whole.here : nothing.here));
      EXPECT_EQ(answer.bytes, set & 4 ? whole.bytes : nothing.bytes);
    }
  }
}

/* The caller's address of a neighbour's segment, if it has one, is that memory. */
CASE(mapped_address_is_the_same_memory, "GX-078") {
  const gex_Rank_t next = (me + 1) % nodes;
  const struct answer answer = ask(team, next);
  EXPECT_EQ(gex_RMA_PutBlockingVal(team, next, part(next), 0x1234567u + me, 8, 0), 0);
  if (answer.here != NULL) {
    const ptrdiff_t offset = part(next) - (unsigned char *)answer.owner;
    volatile uint64_t *word = (uint64_t *)(void *)((unsigned char *)answer.here + offset);
    EXPECT_EQ(*word, 0x1234567u + me);
    *word = 99;
    gasnett_local_mb();
    EXPECT_EQ(gex_RMA_GetBlockingVal(team, next, part(next), 8, 0), 99);
  }
  barrier();
}

/* A process that shares no memory with this one is not mapped. */
CASE(only_neighbours_are_mapped, "GX-078") {
  gex_RankInfo_t *near = NULL;
  gex_Rank_t count = 0;
  gex_System_QueryNbrhdInfo(&near, &count, NULL);
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    int is_near = 0;
    for (gex_Rank_t i = 0; i < count; ++i) is_near |= near[i].gex_jobrank == rank;
    if (!is_near) EXPECT(ask(team, rank).here == NULL);
  }
}

/* ---- IMMEDIATE ------------------------------------------------------------------------------- */

/* At once, or not at all; of this process always at once. */
static void ask_at_once(gex_TM_t tm, gex_Rank_t rank, int is_own) {
  struct answer answer = nothing;
  const gex_Event_t event = gex_EP_QueryBoundSegmentNB(tm, rank, &answer.owner, &answer.here,
                                                       &answer.bytes, GEX_FLAG_IMMEDIATE);
  EXPECT(event == GEX_EVENT_INVALID || (event == GEX_EVENT_NO_OP && !is_own));
  if (event != GEX_EVENT_INVALID) return;
  EXPECT(answer.bytes == kSegmentBytes);
  if (is_own) EXPECT(answer.owner == gex_Segment_QueryAddr(segment));
}
static void ask_all_at_once(void) {
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    ask_at_once(team, rank, rank == me);
    ask_at_once(gex_TM_Pair(endpoint, 0), rank, rank == me);
  }
}

static gex_HSL_t lock = GEX_HSL_INITIALIZER;
static _Atomic int asked_in_handlers;
static void on_ask(gex_Token_t token) {
  (void)token;
  ask_all_at_once();
  ++asked_in_handlers;
}
EX_HANDLER(on_ask, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0);

CASE(immediate_queries, "GX-077") {
  ask_all_at_once();
  gex_HSL_Lock(&lock);
  ask_all_at_once();
  gex_HSL_Unlock(&lock);
  gex_AM_RequestShort0(team, (me + 1) % nodes, on_ask_index, 0);
  AWAIT(asked_in_handlers, 1);
}

CASE(pairs_name_them_too, "GX-077") {
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    const struct answer by_team = ask(team, rank), by_pair = ask(gex_TM_Pair(endpoint, 0), rank);
    EXPECT(by_pair.owner == by_team.owner && by_pair.here == by_team.here);
    EXPECT_EQ(by_pair.bytes, by_team.bytes);
  }
}

/* ---- The old form ---------------------------------------------------------------------------- */

CASE(old_form_of_the_query, "GX-079") {
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    const struct answer expected = ask(team, rank);
    struct answer answer = nothing;
    EXPECT_EQ(gex_Segment_QueryBound(team, rank, &answer.owner, &answer.here, &answer.bytes), 0);
    EXPECT(answer.owner == expected.owner && answer.here == expected.here);
    EXPECT_EQ(answer.bytes, expected.bytes);
    EXPECT_EQ(gex_Segment_QueryBound(team, rank, NULL, NULL, NULL), 0);
  }
}

static void expect_no_segment(gex_TM_t tm, gex_Rank_t rank) {
  struct answer answer = nothing;
  EXPECT_EQ(ask(tm, rank).bytes, 0);
  EXPECT(gex_Segment_QueryBound(tm, rank, &answer.owner, &answer.here, &answer.bytes) != 0);
  EXPECT(answer.owner == nothing.owner && answer.here == nothing.here);
  EXPECT_EQ(answer.bytes, nothing.bytes);
}

JOB(nothing_is_bound_at_first, "GX-075 GX-076 GX-077 GX-079", kNetwork, 0, "") {
  uintptr_t size = 1;
  gex_EP_t further = GEX_EP_INVALID;
  start_ex_job(0, 0);
  EXPECT(gex_EP_QuerySegment(endpoint) == GEX_SEGMENT_INVALID);
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) expect_no_segment(team, rank);
  EXPECT(gex_EP_QueryBoundSegmentNB(team, me, NULL, NULL, &size, GEX_FLAG_IMMEDIATE) ==
         GEX_EVENT_INVALID);
  EXPECT_EQ(size, 0);
  barrier();
  EXPECT_EQ(gex_Segment_Attach(&segment, team, 65536), GASNET_OK);
  EXPECT_EQ(gex_EP_Create(&further, client, GEX_EP_CAPABILITY_ALL, 0), GASNET_OK);
  EXPECT(gex_EP_QuerySegment(further) == GEX_SEGMENT_INVALID);
  barrier();
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    EXPECT_EQ(ask(team, rank).bytes, 65536);
    expect_no_segment(gex_TM_Pair(endpoint, 1), rank);
  }
}

/* A published segment is known, also at once, to everybody who took part. */
JOB(published_segments_are_known, "GX-076 GX-078", kNetwork, 0, "") {
  static unsigned char memory[30000];
  uintptr_t addresses[kNodesMax];
  gex_EP_t further = GEX_EP_INVALID;
  gex_Segment_t own = GEX_SEGMENT_INVALID;
  start_ex_job(0, 65536);
  EXPECT_EQ(gex_EP_Create(&further, client, GEX_EP_CAPABILITY_ALL, 0), GASNET_OK);
  EXPECT_EQ(gex_Segment_Create(&own, client, memory, 20000 + me, GEX_MK_HOST, 0), GASNET_OK);
  EXPECT_EQ(gex_EP_BindSegment(further, own, 0), GASNET_OK);
  EXPECT(gex_EP_QuerySegment(further) == own);
  EXPECT_EQ(gex_EP_PublishBoundSegment(team, &further, 1, 0), GASNET_OK);
  tell_all(team, (uintptr_t)memory, addresses);
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    const struct answer answer = ask(gex_TM_Pair(endpoint, 1), rank);
    EXPECT_EQ((uintptr_t)answer.owner, addresses[rank]);
    EXPECT_EQ(answer.bytes, 20000 + rank);
  }
}
