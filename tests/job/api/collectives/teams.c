/* Making and ending teams: split, dup, create with several endpoints of a process, translations, scratch, transfers and
 * messages over them (GX-068...073, EX-037...042, EX-087...125, EX-134, EX-135). */
#include <gasnetex.h>
#include <gasnet_coll.h>

#include "../job_test.h"

enum { kSegmentBytes = 1 << 20, kEndpoints = 3, kHandler = 200 };

static gex_Client_t client;
static gex_EP_t endpoints[kEndpoints];
static gex_TM_t team;
static gex_Segment_t segment;
static unsigned char *local;
static volatile int came[kEndpoints];

static void on_message(gex_Token_t token, gex_AM_Arg_t endpoint, gex_AM_Arg_t source) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_ALL);
  EXPECT(info.gex_ep == endpoints[endpoint]);
  EXPECT_EQ(info.gex_srcrank, source);
  __sync_fetch_and_add(&came[endpoint], 1);
}

static void register_handler(gex_EP_t ep) {
  gex_AM_Entry_t entry = {kHandler, (gex_AM_Fn_t)on_message, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 2, NULL, "on_message"};
  EXPECT_EQ(gex_EP_RegisterHandlers(ep, &entry, 1), GASNET_OK);
}

/* ---- What a team of endpoints 0 is, by its members' jobranks ---------------------------------------------------- */

static void check_team(gex_TM_t tm, const gex_Rank_t *jobranks, gex_Rank_t size) {
  EXPECT_EQ(gex_TM_QuerySize(tm), size);
  EXPECT(gex_TM_QueryClient(tm) == client && gex_TM_QueryEP(tm) == endpoints[0]);
  EXPECT_EQ(jobranks[gex_TM_QueryRank(tm)], me);
  for (gex_Rank_t rank = 0; rank < size; ++rank) {
    EXPECT_EQ(gex_TM_TranslateRankToJobrank(tm, rank), jobranks[rank]);
    EXPECT_EQ(gex_TM_TranslateRankToEP(tm, rank, 0).gex_rank, jobranks[rank]);
    EXPECT_EQ(gex_TM_TranslateRankToEP(tm, rank, 0).gex_ep_index, 0);
  }
  for (gex_Rank_t jobrank = 0; jobrank < nodes; ++jobrank) {
    gex_Rank_t expected = GEX_RANK_INVALID;
    for (gex_Rank_t rank = size; rank-- > 0;)
      if (jobranks[rank] == jobrank) expected = rank;
    EXPECT_EQ(gex_TM_TranslateJobrankToRank(tm, jobrank), expected);
  }
}

/* Each member puts to, gets from, and sends to the next; sums what they are. */
static void use_team(gex_TM_t tm) {
  const gex_Rank_t rank = gex_TM_QueryRank(tm), size = gex_TM_QuerySize(tm), next = (rank + 1) % size;
  void *base, *own;
  uintptr_t bytes;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, next, &base, NULL, &bytes, 0));
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, rank, &own, NULL, NULL, 0));
  EXPECT(own == local && bytes == kSegmentBytes);
  fill(local, 1000, me);
  gex_Coll_BarrierBlocking(tm, 0);
  unsigned char got[1000];
  gex_RMA_GetBlocking(tm, got, next, base, sizeof got, 0);
  EXPECT(holds(got, sizeof got, gex_TM_TranslateRankToJobrank(tm, next)));
  gex_RMA_PutBlocking(tm, next, (unsigned char *)base + 1000, got, sizeof got, 0);
  const int due = read_now(&came[0]) + 1;
  gex_Coll_BarrierBlocking(tm, 0);
  EXPECT(holds(local + 1000, 1000, me));
  gex_AM_RequestShort2(tm, next, kHandler, 0, 0, (gex_AM_Arg_t)me);
  GASNET_BLOCKUNTIL(read_now(&came[0]) == due);
  uint64_t sum = 0, expected = 0;
  const uint64_t mine = me + 1;
  for (gex_Rank_t r = 0; r < size; ++r) expected += gex_TM_TranslateRankToJobrank(tm, r) + 1;
  gex_Event_Wait(gex_Coll_ReduceToAllNB(tm, &sum, &mine, GEX_DT_U64, 8, 1, GEX_OP_ADD, NULL, NULL, 0));
  EXPECT_EQ(sum, expected);
  gex_Coll_BarrierBlocking(tm, 0);
}

/* ---- Split ---------------------------------------------------------------------------------------------------------- */

static void split_by_color(void) {
  gex_TM_t half = GEX_TM_INVALID;
  const size_t bytes = gex_TM_Split(&half, team, (int)me % 2, 0, NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
  EXPECT(bytes != 0 && half == GEX_TM_INVALID);
  const size_t least = gex_TM_Split(&half, team, 0, 0, NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_MIN);
  EXPECT(least != 0 && least <= bytes && bytes <= kSegmentBytes - 4096);
  EXPECT_EQ(gex_TM_Split(NULL, team, 0, 0, NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED), 0);
  /* Keys turn the order around, but equal ones keep it. */
  EXPECT_EQ(gex_TM_Split(&half, team, (int)me % 2, -(int)(me / 4), local + 4096, bytes, 0), 0);
  gex_Rank_t jobranks[64], size = 0;
  for (gex_Rank_t four = nodes / 4 + 1; four-- > 0;) {
    for (gex_Rank_t rank = four * 4; rank < nodes && rank < four * 4 + 4; ++rank)
      if (rank % 2 == me % 2) jobranks[size++] = rank;
  }
  check_team(half, jobranks, size);
  EXPECT(gex_TM_QueryCData(half) == NULL);
  gex_TM_SetCData(half, &half);
  EXPECT(gex_TM_QueryCData(half) == &half && gex_TM_QueryFlags(half) == 0);
  use_team(half);

  /* Only the last member of the half is in it; the others take part. */
  gex_TM_t last = GEX_TM_INVALID;
  const int is_last = gex_TM_QueryRank(half) == size - 1;
  gex_TM_Split(is_last ? &last : NULL, half, 5, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  EXPECT((last != GEX_TM_INVALID) == is_last);
  if (is_last) {
    check_team(last, &me, 1);
    EXPECT_EQ(gex_TM_QueryFlags(last), GEX_FLAG_TM_NO_SCRATCH);
    use_team(last);
    gex_Memvec_t scratch = {NULL, 99};
    EXPECT_EQ(gex_TM_Destroy(last, &scratch, 0), 0);
    EXPECT(scratch.gex_addr == NULL && scratch.gex_len == 99);
  }
  gex_Memvec_t scratch;
  EXPECT(gex_TM_Destroy(half, &scratch, 0) != 0);
  EXPECT(scratch.gex_addr == local + 4096 && scratch.gex_len == bytes);
}

static void dup_and_nest(void) {
  gex_TM_t twin, other, inner;
  gex_Memvec_t scratch;
  EXPECT(gex_TM_Dup(&twin, team, NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED) != 0);
  EXPECT_EQ(gex_TM_Dup(&twin, team, (gex_Addr_t)(uintptr_t)8192, 64, GEX_FLAG_TM_SYMMETRIC_SCRATCH | GEX_FLAG_SCRATCH_SEG_OFFSET), 0);
  gex_TM_Split(&other, team, 0, -(int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  EXPECT_EQ(gex_TM_Dup(&inner, other, local + 9000, 64, GEX_FLAG_TM_LOCAL_SCRATCH), 0);
  gex_Rank_t forwards[64], backwards[64];
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    forwards[rank] = rank;
    backwards[rank] = nodes - 1 - rank;
  }
  check_team(twin, forwards, nodes);
  check_team(inner, backwards, nodes);
  EXPECT_EQ(gex_TM_Destroy(other, NULL, 0), 0);
  use_team(twin);
  use_team(inner);
  EXPECT(gex_TM_Destroy(inner, &scratch, GEX_FLAG_SCRATCH_SEG_OFFSET | GEX_FLAG_GLOBALLY_QUIESCED) != 0);
  EXPECT((uintptr_t)scratch.gex_addr == 9000 && scratch.gex_len == 64);
  EXPECT(gex_TM_Destroy(twin, &scratch, 0) != 0);
  EXPECT(scratch.gex_addr == local + 8192);
}

/* Many teams one after another, some members late; transfers that a team does not outlive (EX-090, EX-091). */
static void come_and_go(unsigned times) {
  for (unsigned i = 0; i < times; ++i) {
    gex_TM_t tm;
    if ((i + me) % 13 == 0) gasnett_nsleep(1000000);
    gex_TM_Split(&tm, team, (int)(me + i) % 3, (int)(me * 7 + i) % 5, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    const gex_Rank_t size = gex_TM_QuerySize(tm), next = (gex_TM_QueryRank(tm) + 1) % size;
    uint32_t value = gex_TM_QueryRank(tm) == 0 ? i : 0;
    for (unsigned op = 0; op < i % 40; ++op) gex_Event_Wait(gex_Coll_BroadcastNB(tm, 0, &value, &value, sizeof value, 0));
    if (i % 40 != 0) EXPECT_EQ(value, i);
    void *base;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, next, &base, NULL, NULL, 0));
    const gex_Event_t put = gex_RMA_PutNB(tm, next, (unsigned char *)base + 20000, local, 10000, GEX_EVENT_DEFER, 0);
    gex_TM_Destroy(tm, NULL, i % 2 ? GEX_FLAG_GLOBALLY_QUIESCED : 0);
    gex_Event_Wait(put);
  }
}

/* ---- Create ---------------------------------------------------------------------------------------------------------- */

/* Data in pieces between members of one process and of others: along chains, and, where pieces are few, down trees. */
static void move_large(gex_TM_t *tms, gex_Rank_t size, size_t words) {
  uint64_t *from[kEndpoints], *sums[kEndpoints], *told[kEndpoints];
  gex_Event_t events[3 * kEndpoints];
  const gex_Rank_t root = size / 2;
  for (int i = 0; i < kEndpoints; ++i) {
    const gex_Rank_t rank = gex_TM_QueryRank(tms[i]);
    from[i] = malloc(3 * words * sizeof(uint64_t));
    sums[i] = from[i] + words;
    told[i] = sums[i] + words;
    for (size_t k = 0; k < words; ++k) {
      from[i][k] = (rank + 1) * k;
      told[i][k] = rank == root ? k * 7 : 0;
    }
  }
  for (int i = 0; i < kEndpoints; ++i) {
    events[3 * i] = gex_Coll_ReduceToAllNB(tms[i], sums[i], from[i], GEX_DT_U64, 8, words, GEX_OP_ADD, NULL, NULL, 0);
    events[3 * i + 1] = gex_Coll_BroadcastNB(tms[i], root, told[i], told[i], 8 * words, 0);
  }
  for (int i = 0; i < kEndpoints; ++i) {
    for (int k = 0; k < 2; ++k) gex_Event_Wait(events[3 * i + k]);
    for (size_t k = 0; k < words; ++k) EXPECT(sums[i][k] == (uint64_t)size * (size + 1) / 2 * k && told[i][k] == k * 7);
  }
  for (int i = 0; i < kEndpoints; ++i)
    events[i] = gex_Coll_ReduceToOneNB(tms[i], root, from[i], from[i], GEX_DT_U64, 8, words, GEX_OP_MAX, NULL, NULL, 0);
  for (int i = 0; i < kEndpoints; ++i) {
    gex_Event_Wait(events[i]);
    for (size_t k = 0; k < words && gex_TM_QueryRank(tms[i]) == root; ++k) EXPECT(from[i][k] == size * k);
    free(from[i]);
  }
}

/* Every endpoint of every process, the last first. */
static void create_of_all(void) {
  gex_EP_Location_t args[64 * kEndpoints];
  gex_TM_t tms[kEndpoints];
  const gex_Rank_t size = nodes * kEndpoints;
  for (gex_Rank_t i = 0; i < size; ++i) {
    args[i].gex_rank = (size - 1 - i) / kEndpoints;
    args[i].gex_ep_index = (size - 1 - i) % kEndpoints;
  }
  EXPECT(gex_TM_Create(tms, kEndpoints, team, args, size, NULL, 0, GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_TM_SCRATCH_SIZE_MIN) != 0);
  EXPECT_EQ(gex_TM_Create(tms, kEndpoints, team, args, size, NULL, 0, GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_RANK_IS_JOBRANK), 0);
  for (int i = 0; i < kEndpoints; ++i) { /* by rank, so from the last endpoint on */
    EXPECT_EQ(gex_TM_QueryRank(tms[i]), size - (me + 1) * kEndpoints + (gex_Rank_t)i);
    EXPECT(gex_TM_QueryEP(tms[i]) == endpoints[kEndpoints - 1 - i]);
    EXPECT_EQ(gex_TM_QuerySize(tms[i]), size);
    EXPECT_EQ(gex_TM_TranslateRankToEP(tms[i], 0, 0).gex_ep_index, kEndpoints - 1);
    EXPECT_EQ(gex_TM_TranslateJobrankToRank(tms[i], 0), size - kEndpoints); /* EX-042 */
  }
  /* Each member makes the calls, one after another (EX-123). */
  uint32_t sums[kEndpoints], ranks[kEndpoints], *all = malloc(size * kEndpoints * sizeof *all);
  gex_Event_t events[3 * kEndpoints];
  for (unsigned round = 0; round < 30; ++round) {
    for (int i = 0; i < kEndpoints; ++i) {
      ranks[i] = gex_TM_QueryRank(tms[i]) + round;
      events[3 * i] = gex_Coll_ReduceToAllNB(tms[i], &sums[i], &ranks[i], GEX_DT_U32, 4, 1, GEX_OP_ADD, NULL, NULL, 0);
      events[3 * i + 1] = gasnet_coll_gather_all_nb(tms[i], all + (gex_Rank_t)i * size, &ranks[i], 4,
                                                    GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_ALLSYNC);
      events[3 * i + 2] = gex_Coll_BarrierNB(tms[i], 0);
    }
    gex_Event_WaitAll(events, 3 * kEndpoints, 0);
    for (int i = 0; i < kEndpoints; ++i) {
      EXPECT_EQ(sums[i], size * (size - 1) / 2 + size * round);
      for (gex_Rank_t rank = 0; rank < size; ++rank) EXPECT_EQ(all[(gex_Rank_t)i * size + rank], rank + round);
    }
  }
  free(all);
  move_large(tms, size, 8000);
  move_large(tms, size, 100000);
  /* Messages reach the endpoint that a rank names. */
  const int due = (int)nodes * kEndpoints;
  for (int i = 0; i < kEndpoints; ++i) came[i] = 0;
  gex_Coll_BarrierBlocking(team, 0);
  for (int i = 0; i < kEndpoints; ++i) {
    for (gex_Rank_t to = 0; to < size; ++to)
      gex_AM_RequestShort2(tms[i], to, kHandler, 0, (gex_AM_Arg_t)gex_TM_TranslateRankToEP(tms[i], to, 0).gex_ep_index, (gex_AM_Arg_t)me);
  }
  GASNET_BLOCKUNTIL(read_now(&came[0]) == due && read_now(&came[1]) == due && read_now(&came[2]) == due);
  gex_Coll_BarrierBlocking(team, 0);
  for (int i = 0; i < kEndpoints; ++i) gex_TM_Destroy(tms[i], NULL, 0);
}

/* Two teams by one call; the last rank in none, where there are three. */
static void create_several(void) {
  const gex_Rank_t in_teams = nodes > 2 ? nodes - 1 : nodes;
  gex_EP_Location_t args[64];
  gex_TM_t tm = GEX_TM_INVALID;
  gex_Addr_t scratch[64];
  gex_Rank_t size = 0, jobranks[64];
  gex_TM_t parent;
  gex_TM_Split(&parent, team, 0, -(int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  if (me < in_teams) {
    for (gex_Rank_t rank = 0; rank < in_teams; ++rank) {
      if (rank % 2 != me % 2) continue;
      args[size].gex_rank = nodes - 1 - rank; /* in the parent */
      args[size].gex_ep_index = 0;
      scratch[size] = (gex_Addr_t)(uintptr_t)(size * 128);
      jobranks[size++] = rank;
    }
    EXPECT_EQ(gex_TM_Create(&tm, 1, parent, args, size, scratch, 64, GEX_FLAG_TM_GLOBAL_SCRATCH | GEX_FLAG_SCRATCH_SEG_OFFSET), 0);
    check_team(tm, jobranks, size);
    use_team(tm);
    gex_Memvec_t back;
    EXPECT(gex_TM_Destroy(tm, &back, GEX_FLAG_SCRATCH_SEG_OFFSET) != 0);
    EXPECT((uintptr_t)back.gex_addr == me / 2 * 128 && back.gex_len == 64);
  } else {
    gex_TM_Create(NULL, 0, parent, NULL, 0, NULL, 0, GEX_FLAG_TM_GLOBAL_SCRATCH);
  }
  gex_TM_Destroy(parent, NULL, 0);
}

int main(int argc, char **argv) {
  if (gex_Client_Init(&client, &endpoints[0], &team, "TEAMS_JOB", &argc, &argv, 0) != GASNET_OK) return 1;
  me = gex_System_QueryJobRank();
  nodes = gex_System_QueryJobSize();
  register_handler(endpoints[0]);
  if (gex_Segment_Attach(&segment, team, kSegmentBytes) != GASNET_OK) gasnet_exit(1);
  local = gex_Segment_QueryAddr(segment);
  for (int i = 1; i < kEndpoints; ++i) {
    EXPECT_EQ(gex_EP_Create(&endpoints[i], client, GEX_EP_CAPABILITY_ALL, 0), GASNET_OK);
    register_handler(endpoints[i]);
  }
  gex_Coll_BarrierBlocking(team, 0);
  split_by_color();
  dup_and_nest();
  come_and_go(argc > 1 ? (unsigned)atoi(argv[1]) : 100);
  create_of_all();
  create_several();
  gex_Coll_BarrierBlocking(team, 0);
  if (me == 0) printf("teams: ok with %u ranks\n", (unsigned)nodes);
  fflush(stdout);
  gasnet_exit(0);
  return 0;
}
