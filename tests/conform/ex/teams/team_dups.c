/* gex_TM_Dup (GASNet-EX additions 5.2): the same members again, in an order of their own. */
#include "../ex.h"

static _Atomic unsigned came;
static void on_word(gex_Token_t token, gex_AM_Arg_t jobrank) {
  expect_sender(token, (gex_Rank_t)jobrank);
  ++came;
}
EX_HANDLER(on_word, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1);

/* Same members, same order, same endpoints; another team, with no data of the client's. */
static void expect_twins(gex_TM_t twin, gex_TM_t tm) {
  EXPECT(twin != GEX_TM_INVALID && twin != tm);
  EXPECT(gex_TM_QueryClient(twin) == client && gex_TM_QueryEP(twin) == gex_TM_QueryEP(tm));
  EXPECT_EQ(gex_TM_QueryRank(twin), gex_TM_QueryRank(tm));
  EXPECT_EQ(gex_TM_QuerySize(twin), gex_TM_QuerySize(tm));
  EXPECT(gex_TM_QueryCData(twin) == NULL);
  for (gex_Rank_t rank = 0; rank < gex_TM_QuerySize(tm); ++rank)
    EXPECT_EQ(gex_TM_TranslateRankToJobrank(twin, rank), gex_TM_TranslateRankToJobrank(tm, rank));
}

CASE(same_members_in_the_same_order, "EX-099") {
  gex_TM_t tms[3] = {team, backwards()};
  gex_TM_Split(&tms[2], team, (int)me % 2, -(int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  for (int i = 0; i < 3; ++i) {
    gex_TM_t twin = GEX_TM_INVALID;
    if (i > 0) gex_TM_SetCData(tms[i], &tms[i]);
    gex_TM_Dup(&twin, tms[i], NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    expect_twins(twin, tms[i]);
    if (i > 0) gex_TM_Destroy(tms[i], NULL, 0); /* the twin stands alone */
    gex_Event_Wait(gex_Coll_BarrierNB(twin, 0));
    gex_TM_Destroy(twin, NULL, 0);
  }
}

/* Collectives of the one do not stand between those of the other: some are waited for late. With
 * threads: coll_order.c. */
CASE(order_of_its_own, "EX-099") {
  enum { kTimes = 20 };
  gex_TM_t tms[2] = {team, GEX_TM_INVALID};
  static uint32_t told[2][kTimes];
  gex_Event_t events[2][kTimes];
  gex_TM_Dup(&tms[1], team, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  for (unsigned i = 0; i < kTimes; ++i) {
    for (unsigned k = 0; k < 2; ++k) {
      const gex_Rank_t root = (i + k) % nodes;
      told[k][i] = me == root ? 100 * i + k : 9999;
      events[k][i] = gex_Coll_BroadcastNB(tms[k], root, &told[k][i], &told[k][i], 4, 0);
      if (i % 3 == k) gex_Event_Wait(gex_Coll_BarrierNB(tms[k], 0)); /* the others' are under way */
    }
  }
  gex_Event_WaitAll(events[1], kTimes, 0);
  for (unsigned i = 0; i < kTimes; ++i) EXPECT_EQ(told[1][i], 100 * i + 1);
  gex_Event_WaitAll(events[0], kTimes, 0);
  for (unsigned i = 0; i < kTimes; ++i) EXPECT_EQ(told[0][i], 100 * i);
  gex_TM_Destroy(tms[1], NULL, 0);
}

/* A question about the size makes no team and looks at nothing else; all members get one answer. */
CASE(sizes_are_asked_for, "EX-098 EX-134") {
  gex_TM_t other = backwards(), tms[2] = {team, other};
  for (int i = 0; i < 2; ++i) {
    gex_TM_t untouched = team;
    const size_t bytes = gex_TM_Dup(&untouched, tms[i], (gex_Addr_t)(uintptr_t)(me + 5), me + 3,
                                    GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
    const size_t least = gex_TM_Dup(NULL, tms[i], NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_MIN);
    uint64_t mine[2] = {bytes, least}, most[2], fewest[2];
    EXPECT(untouched == team && bytes >= 1 && least >= 1 && least <= bytes);
    gex_Event_Wait(
        gex_Coll_ReduceToAllNB(team, most, mine, GEX_DT_U64, 8, 2, GEX_OP_MAX, NULL, NULL, 0));
    gex_Event_Wait(
        gex_Coll_ReduceToAllNB(team, fewest, mine, GEX_DT_U64, 8, 2, GEX_OP_MIN, NULL, NULL, 0));
    EXPECT(most[0] == fewest[0] && most[1] == fewest[1]);
  }
  gex_TM_Destroy(other, NULL, 0);
}

static void collectives_work(gex_TM_t tm) {
  const gex_Rank_t size = gex_TM_QuerySize(tm);
  static uint32_t words[5000], sums[5000];
  for (unsigned i = 0; i < 5000; ++i) words[i] = gex_TM_QueryRank(tm) + i;
  gex_Event_Wait(
      gex_Coll_ReduceToAllNB(tm, sums, words, GEX_DT_U32, 4, 5000, GEX_OP_ADD, NULL, NULL, 0));
  for (unsigned i = 0; i < 5000; ++i) EXPECT_EQ(sums[i], size * (size - 1) / 2 + size * i);
  gex_Event_Wait(gex_Coll_BroadcastNB(tm, size - 1, words, words, sizeof words, 0));
  EXPECT(words[0] == size - 1 && words[4999] == size - 1 + 4999);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

/* Each kind of scratch memory, as an address or an offset, of the least size as well as the
 * recommended one. Symmetric: the same offset everywhere, of the first rank's part; the same
 * address too, if segments happen to lie alike. */
static void dup_with(gex_TM_t tm, gex_Addr_t address, size_t bytes, gex_Flags_t flags, void *due) {
  gex_TM_t twin = GEX_TM_INVALID;
  gex_Memvec_t back = {NULL, 0};
  gex_TM_Dup(&twin, tm, address, bytes, flags);
  expect_twins(twin, tm);
  collectives_work(twin);
  const int is_told = gex_TM_Destroy(twin, &back, flags & GEX_FLAG_SCRATCH_SEG_OFFSET);
  EXPECT_EQ(is_told != 0, due != NULL);
  if (due) EXPECT(back.gex_addr == due && back.gex_len == bytes);
}
CASE(scratch_of_each_kind, "EX-100 EX-101 EX-103") {
  const gex_Flags_t offset = GEX_FLAG_SCRATCH_SEG_OFFSET;
  unsigned char *const mine = part(me) + 128;
  void *const here = (void *)(uintptr_t)(mine - (unsigned char *)segments[me].addr);
  void *const there = (void *)(uintptr_t)256;
  int lie_alike = 1;
  for (gex_Rank_t rank = 0; rank < nodes; ++rank)
    lie_alike = lie_alike && segments[rank].addr == segments[0].addr;
  gex_TM_t other = backwards(), tms[2] = {team, other};
  for (int i = 0; i < 4; ++i) {
    const gex_TM_t tm = tms[i % 2];
    const size_t bytes =
        gex_TM_Dup(NULL, tm, NULL, 0,
                   i / 2 ? GEX_FLAG_TM_SCRATCH_SIZE_MIN : GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
    EXPECT(bytes >= 1 && bytes < part_bytes() - 4096);
    dup_with(tm, mine, bytes, GEX_FLAG_TM_LOCAL_SCRATCH, mine);
    dup_with(tm, here, bytes, GEX_FLAG_TM_LOCAL_SCRATCH | offset, here);
    dup_with(tm, there, bytes, GEX_FLAG_TM_SYMMETRIC_SCRATCH | offset, there);
    if (lie_alike)
      dup_with(tm, segments[0].addr, bytes, GEX_FLAG_TM_SYMMETRIC_SCRATCH, segments[0].addr);
  }
  gex_TM_Destroy(other, NULL, 0);
}

/* Without scratch the address and the length are not looked at: these are none. */
CASE(no_scratch_ignores_the_address, "EX-100") {
  gex_TM_t twin = GEX_TM_INVALID;
  gex_Memvec_t back = {NULL, 99};
  gex_TM_Dup(&twin, team, (gex_Addr_t)(uintptr_t)(me + 1), (size_t)-1 - me, GEX_FLAG_TM_NO_SCRATCH);
  expect_twins(twin, team);
  EXPECT_EQ(gex_TM_Destroy(twin, &back, 0), 0);
  EXPECT_EQ(back.gex_len, 99);
}

/* The first member to return may send to, and start collectives with, others that are still on
 * their way. */
CASE(usable_at_once, "EX-104") {
  const size_t bytes = gex_TM_Dup(NULL, team, NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
  for (unsigned i = 0; i < 30; ++i) {
    gex_TM_t twin = GEX_TM_INVALID;
    const gex_Rank_t to = (me + 1 + i) % nodes;
    uint32_t told = me == i % nodes ? i : 9999;
    came = 0;
    barrier();
    for (unsigned poll = 0; (i + me) % 3 == 0 && poll < 300; ++poll) gasnet_AMPoll();
    gex_TM_Dup(&twin, team, part(me), bytes, GEX_FLAG_TM_LOCAL_SCRATCH);
    const gex_Event_t event = gex_Coll_BroadcastNB(twin, i % nodes, &told, &told, sizeof told, 0);
    gex_AM_RequestShort1(twin, to, on_word_index, 0, (gex_AM_Arg_t)me);
    gex_Event_Wait(event);
    EXPECT_EQ(told, i);
    AWAIT(came, 1);
    gex_TM_Destroy(twin, NULL, 0);
  }
}
