/* gex_TM_Destroy (GASNet-EX additions 5.1): what it leaves, what it tells. */
#include "../ex.h"

/* Atomic since another thread may run handlers. */
static _Atomic unsigned requests, replies;
static void on_reply(gex_Token_t token, gex_AM_Arg_t number) {
  (void)token;
  EXPECT_EQ(number, 7);
  ++replies;
}
EX_HANDLER(on_reply, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 1);
static void on_request(gex_Token_t token, gex_AM_Arg_t number) {
  gex_AM_ReplyShort1(token, on_reply_index, 0, number);
  ++requests;
}
EX_HANDLER(on_request, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1);

static gex_TM_t everyone(void) {
  gex_TM_t tm = GEX_TM_INVALID;
  gex_TM_Split(&tm, team, 0, -(int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  return tm;
}

/* With either flag, in a team of all or in smaller ones: members alone call. */
CASE(endpoint_stays, "EX-088 EX-092") {
  for (int i = 0; i < 6; ++i) {
    gex_TM_t tm = GEX_TM_INVALID;
    const int is_member = i < 2 || me % 2 == 0;
    gex_TM_Split(is_member ? &tm : NULL, team, 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    EXPECT((tm != GEX_TM_INVALID) == is_member);
    if (is_member) {
      gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
      EXPECT_EQ(gex_TM_Destroy(tm, NULL, i % 2 ? GEX_FLAG_GLOBALLY_QUIESCED : 0), 0);
    }
    requests = replies = 0;
    barrier();
    const gex_Rank_t to = (me + 1) % nodes;
    uint32_t word = me + 40;
    EXPECT(gex_EP_QueryClient(endpoint) == client && gex_EP_QuerySegment(endpoint) == segment);
    gex_RMA_PutBlocking(team, to, part(to), &word, sizeof word, 0);
    gex_RMA_GetBlocking(team, &word, to, part(to), sizeof word, 0);
    EXPECT_EQ(word, me + 40);
    gex_AM_RequestShort1(team, to, on_request_index, 0, 7);
    AWAIT(replies, 1);
    AWAIT(requests, 1);
  }
}

/* The resources of a team are free for the next one: far more than could be at once. */
CASE(resources_are_released, "EX-088 EX-092") {
  for (unsigned i = 0; i < 1500; ++i) {
    gex_TM_t tm = everyone();
    uint32_t told = gex_TM_QueryRank(tm) == 0 ? i : 0;
    if (i % 3 == 0) gex_Event_Wait(gex_Coll_BroadcastNB(tm, 0, &told, &told, sizeof told, 0));
    if (i % 3 == 0) EXPECT_EQ(told, i);
    gex_TM_Destroy(tm, NULL, i % 2 ? GEX_FLAG_GLOBALLY_QUIESCED : 0);
  }
}

/* The collective calls of one team do not get those of another that was destroyed before, though a
 * member may be slow to leave it. */
CASE(next_team_is_another, "EX-088 EX-092") {
  for (unsigned i = 0; i < 60; ++i) {
    gex_TM_t tm = everyone();
    const gex_Rank_t root = i % nodes;
    uint32_t told[3];
    gex_Event_t events[3];
    for (unsigned k = 0; k < 3; ++k) {
      told[k] = gex_TM_QueryRank(tm) == root ? i * 3 + k : 0;
      events[k] = gex_Coll_BroadcastNB(tm, root, &told[k], &told[k], sizeof *told, 0);
    }
    gex_Event_WaitAll(events, 3, 0);
    for (unsigned k = 0; k < 3; ++k) EXPECT_EQ(told[k], i * 3 + k);
    for (unsigned poll = 0; (i + me) % 4 == 0 && poll < 100; ++poll) gasnet_AMPoll();
    gex_TM_Destroy(tm, NULL, 0);
  }
}

/* Work that is under way over the team completes without it: by events, and implicitly; and a
 * request has its reply. */
CASE(operations_outlive_the_team, "EX-091") {
  enum { kBytes = 60000 };
  static unsigned char source[kBytes], got[kBytes];
  for (unsigned round = 0; round < 20; ++round) {
    gex_TM_t tm = everyone();
    const gex_Rank_t rank = gex_TM_QueryRank(tm), to = (rank + 1) % nodes;
    unsigned char *const there = part(gex_TM_TranslateRankToJobrank(tm, to));
    gex_Event_t local;
    requests = replies = 0;
    fill(source, kBytes, round * 10 + me);
    gex_RMA_PutBlocking(tm, to, there + kBytes, source, kBytes, 0);
    barrier();
    const gex_Event_t put = gex_RMA_PutNB(tm, to, there, source, kBytes, &local, 0);
    const gex_Event_t get = gex_RMA_GetNB(tm, got, to, there + kBytes, kBytes, 0);
    gex_RMA_PutNBI(tm, to, there + 2 * kBytes, source, kBytes, GEX_EVENT_DEFER, 0);
    gex_AM_RequestShort1(tm, to, on_request_index, 0, 7);
    gex_TM_Destroy(tm, NULL, round % 2 ? GEX_FLAG_GLOBALLY_QUIESCED : 0);
    gex_Event_Wait(get);
    EXPECT(holds(got, kBytes, round * 10 + me));
    gex_Event_Wait(local);
    gex_Event_Wait(put);
    gex_NBI_Wait(GEX_EC_PUT, 0);
    AWAIT(replies, 1);
    AWAIT(requests, 1);
    memset(got, 0, kBytes);
    const gex_Rank_t next = gex_TM_TranslateRankToJobrank(team, (me + nodes - 1) % nodes);
    for (int i = 0; i < 3; i += 2) {
      gex_RMA_GetBlocking(team, got, next, there + i * kBytes, kBytes, 0);
      EXPECT(holds(got, kBytes, round * 10 + me));
    }
  }
}

/* Scratch memory of the client's comes back, as an address or an offset, whichever form made the
 * team. */
CASE(scratch_is_told, "EX-093 EX-094") {
  static const gex_Flags_t forms[] = {0, GEX_FLAG_SCRATCH_SEG_OFFSET};
  unsigned char *const scratch = part(me) + 64;
  const size_t offset = (size_t)(scratch - (unsigned char *)segments[me].addr);
  for (int i = 0; i < 4; ++i) {
    const gex_Flags_t made = forms[i % 2], told = forms[i / 2];
    const gex_Flags_t each = me % 2 ? told : forms[0]; /* members may ask differently */
    gex_TM_t tm = GEX_TM_INVALID;
    gex_Memvec_t back = {NULL, 0};
    const size_t bytes = gex_TM_Dup(NULL, team, NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
    const gex_Addr_t given = made ? (gex_Addr_t)offset : (gex_Addr_t)scratch;
    gex_TM_Dup(&tm, team, given, bytes, GEX_FLAG_TM_LOCAL_SCRATCH | made);
    gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
    EXPECT(gex_TM_Destroy(tm, &back, each) != 0);
    EXPECT(back.gex_addr == (each ? (void *)offset : scratch));
    EXPECT_EQ(back.gex_len, bytes);
  }
}

/* Nothing is written where there is none; NULL where nobody wants to know. */
CASE(no_scratch_is_told, "EX-093") {
  gex_TM_t tm = everyone();
  gex_Memvec_t back = {&tm, 99};
  EXPECT_EQ(gex_TM_Destroy(tm, &back, 0), 0);
  EXPECT(back.gex_addr == &tm && back.gex_len == 99);
  const size_t bytes = gex_TM_Dup(&tm, team, NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
  gex_TM_Dup(&tm, team, part(me), bytes, GEX_FLAG_TM_LOCAL_SCRATCH);
  EXPECT_EQ(gex_TM_Destroy(tm, NULL, 0), 0); /* nothing was written */
  tm = everyone();
  EXPECT_EQ(gex_TM_Destroy(tm, NULL, GEX_FLAG_SCRATCH_SEG_OFFSET), 0);
}
