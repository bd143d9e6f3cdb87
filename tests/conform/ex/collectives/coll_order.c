/* Many collectives at once, over one team and over several; what a barrier orders. */
#include "../ex.h"

#if GASNET_PAR
#include <pthread.h>
#endif

/* ---- Any number may be active --------------------------------------------------------------- */

/* One of each kind, with results that say which round they belong to. */
struct round {
  uint64_t told, sum, sum_here, mine;
  gex_Event_t events[4];
};
static void start(struct round *r, gex_TM_t tm, unsigned number) {
  const gex_Rank_t rank = gex_TM_QueryRank(tm), root = number % gex_TM_QuerySize(tm);
  r->mine = number * 100u + rank;
  r->told = rank == root ? number + 7 : 0;
  r->sum = r->sum_here = 0;
  r->events[0] = gex_Coll_BroadcastNB(tm, root, &r->told, &r->told, 8, 0);
  r->events[1] =
      gex_Coll_ReduceToAllNB(tm, &r->sum, &r->mine, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0);
  r->events[2] = gex_Coll_BarrierNB(tm, 0);
  r->events[3] = gex_Coll_ReduceToOneNB(tm, root, &r->sum_here, &r->mine, GEX_DT_U64, 8, 1,
                                        GEX_OP_MAX, NULL, NULL, 0);
}
static void check(const struct round *r, gex_TM_t tm, unsigned number) {
  const gex_Rank_t rank = gex_TM_QueryRank(tm), size = gex_TM_QuerySize(tm);
  EXPECT_EQ(r->told, number + 7);
  EXPECT_EQ(r->sum, number * 100u * size + size * (size - 1) / 2);
  if (rank == number % size) EXPECT_EQ(r->sum_here, number * 100u + size - 1);
}

enum { kRounds = 60 };
static struct round rounds[kRounds];

/* The last ones are waited for first: no event needs the wait for another. */
CASE(many_over_one_team, "GX-141 GX-143") {
  for (unsigned i = 0; i < kRounds; ++i) start(&rounds[i], team, i);
  for (unsigned i = kRounds; i-- > 0;) {
    gex_Event_WaitAll(rounds[i].events, 4, 0);
    check(&rounds[i], team, i);
  }
}

/* All members; all from the last to the first; those with the same parity. In turn, without a wait
 * in between. */
CASE(over_several_teams, "GX-141 GX-143") {
  gex_TM_t tms[4] = {team};
  gex_TM_Split(&tms[1], team, 0, -(int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  gex_TM_Split(&tms[2], team, (int)me % 2, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  gex_TM_Split(&tms[3], tms[1], 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  for (unsigned i = 0; i < kRounds; ++i) start(&rounds[i], tms[i % 4], i);
  for (unsigned k = 0; k < kRounds; ++k) {
    const unsigned i = (k * 7 + me) % kRounds; /* in another order on each rank */
    gex_Event_WaitAll(rounds[i].events, 4, 0);
  }
  for (unsigned i = 0; i < kRounds; ++i) check(&rounds[i], tms[i % 4], i);
  for (int i = 1; i < 4; ++i) gex_TM_Destroy(tms[i], NULL, 0);
}

#if GASNET_PAR
/* A thread for each team, none of which waits for the others. */
static void *work_at(void *tm_p) {
  const gex_TM_t tm = *(gex_TM_t *)tm_p;
  struct round round;
  for (unsigned i = 0; i < 50; ++i) {
    start(&round, tm, i);
    gex_Event_WaitAll(round.events, 4, 0);
    check(&round, tm, i);
  }
  return NULL;
}
#endif
CASE(threads_with_a_team_each, "GX-141 EX-099") {
#if GASNET_PAR
  enum { kThreads = 3 };
  pthread_t threads[kThreads];
  gex_TM_t tms[kThreads] = {team};
  for (int i = 1; i < kThreads; ++i) gex_TM_Dup(&tms[i], team, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  for (int i = 0; i < kThreads; ++i)
    EXPECT_EQ(pthread_create(&threads[i], NULL, work_at, &tms[i]), 0);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  for (int i = 1; i < kThreads; ++i) gex_TM_Destroy(tms[i], NULL, 0);
#else
  NOT_HERE("one thread makes all calls in this mode");
#endif
}

/* ---- Barriers ---------------------------------------------------------------------------------
 */

static _Atomic int go;
static void on_go(gex_Token_t token) {
  (void)token;
  EXPECT_FIRST(go);
  ++go;
}
EX_HANDLER(on_go, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0);

/* Rank 1 calls only after a message that rank 0 sends after its own call; other calls of rank 0's
 * go on meanwhile. */
static void barrier_waits_for_rank_1(gex_TM_t tm) {
  uint32_t word = 9;
  go = 0;
  barrier();
  if (me == 1) AWAIT(go, 1);
  gex_Event_t event = gex_Coll_BarrierNB(tm, 0);
  if (me == 0) {
    for (int i = 0; i < 50; ++i) {
      EXPECT(gex_Event_Test(event) != GASNET_OK);
      gasnet_AMPoll();
    }
    gex_RMA_PutBlocking(tm, gex_TM_QueryRank(tm), part(me), &word, sizeof word, 0);
    gex_AM_RequestShort0(team, 1, on_go_index, 0);
  }
  gex_Event_Wait(event);
}

CASE(barrier_waits_for_every_member, "GX-141 GX-144 GX-148") {
  gex_TM_t backwards;
  if (nodes < 2) NOT_HERE("one rank has nobody to wait for");
  gex_TM_Split(&backwards, team, 0, -(int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  for (int i = 0; i < 5; ++i) {
    barrier_waits_for_rank_1(team);
    barrier_waits_for_rank_1(backwards);
  }
  gex_TM_Destroy(backwards, NULL, 0);
}

/* A rank that is no member has no part in it, though it makes no call at all. */
CASE(barrier_is_of_members_alone, "GX-144") {
  gex_TM_t tm = GEX_TM_INVALID;
  if (nodes < 2) NOT_HERE("one rank is every member");
  gex_TM_Split(me == 1 ? NULL : &tm, team, 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  const int is_first = freeze_rank_1();
  for (int i = 0; i < 20 && me != 1; ++i) gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
  if (is_first) thaw_rank_1();
  if (me != 1) gex_TM_Destroy(tm, NULL, 0);
}

/* The values that a rank stored, or put, before the barrier are those that others load and get
 * after it; each has a word in every part of the first two. */
CASE(barrier_orders_accesses, "GX-144") {
  enum { kPhases = 60 };
  volatile uint32_t *const mine = (volatile uint32_t *)part(me);
  for (uint32_t phase = 1; phase <= kPhases; ++phase) {
    mine[0] = phase; /* stored here, */
    for (gex_Rank_t to = 0; to < nodes; ++to)
      gex_Event_Wait(
          gex_RMA_PutNB(team, to, part(to) + 4, &phase, sizeof phase, GEX_EVENT_DEFER, 0));
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
    for (gex_Rank_t from = 0; from < nodes; ++from) {
      const size_t offset = from * part_bytes();
      uint32_t got = 0;
      void *mapped = NULL;
      /* put here by another, */
      EXPECT_EQ(*(volatile uint32_t *)((unsigned char *)segments[me].addr + offset + 4), phase);
      gex_RMA_GetBlocking(team, &got, from, (unsigned char *)segments[from].addr + offset, 4, 0);
      EXPECT_EQ(got, phase);
      gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, from, NULL, &mapped, NULL, 0));
      if (mapped) EXPECT_EQ(*(volatile uint32_t *)((unsigned char *)mapped + offset), phase);
    }
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  }
}
