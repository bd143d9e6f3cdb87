/* gex_TM_Create of first endpoints (GASNet-EX additions 5.3): several teams by one call, ranks,
 * sizes, scratch memory. With several members of one process: team_members.c. */
#include "../ex.h"

static _Atomic unsigned came;
static void on_member(gex_Token_t token, gex_AM_Arg_t jobrank) {
  expect_sender(token, (gex_Rank_t)jobrank);
  ++came;
}
EX_HANDLER(on_member, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1);

/* The members that are to be: jobranks of this rank's parity, the last first. Their names in args:
 * jobranks, or ranks of backwards(). */
static gex_Rank_t jobranks[kNodesMax];
static gex_EP_Location_t args[kNodesMax];
static size_t choose_parity(gex_Flags_t flags) {
  size_t count = 0;
  for (gex_Rank_t jobrank = nodes; jobrank-- > 0;) {
    if (jobrank % 2 != me % 2) continue;
    args[count].gex_rank = flags & GEX_FLAG_RANK_IS_JOBRANK ? jobrank : nodes - 1 - jobrank;
    args[count].gex_ep_index = 0;
    jobranks[count++] = jobrank;
  }
  return count;
}

/* The team of those members; and messages over it, each to the next member, arrive. */
static void expect_team(gex_TM_t tm, size_t count) {
  const gex_Rank_t size = gex_TM_QuerySize(tm), rank = gex_TM_QueryRank(tm);
  EXPECT_EQ(size, count);
  EXPECT(gex_TM_QueryEP(tm) == endpoint && jobranks[rank] == me);
  for (gex_Rank_t k = 0; k < size; ++k) {
    EXPECT_EQ(gex_TM_TranslateRankToJobrank(tm, k), jobranks[k]);
    EXPECT_EQ(gex_TM_TranslateRankToEP(tm, k, 0).gex_rank, jobranks[k]);
    EXPECT_EQ(gex_TM_TranslateRankToEP(tm, k, 0).gex_ep_index, 0);
  }
  gex_AM_RequestShort1(tm, (rank + 1) % size, on_member_index, 0, (gex_AM_Arg_t)me);
  AWAIT(came, 1);
}
static void collectives_work(gex_TM_t tm) {
  const gex_Rank_t size = gex_TM_QuerySize(tm);
  uint32_t sum = 0, mine = gex_TM_QueryRank(tm);
  gex_Event_Wait(
      gex_Coll_ReduceToAllNB(tm, &sum, &mine, GEX_DT_U32, 4, 1, GEX_OP_ADD, NULL, NULL, 0));
  EXPECT_EQ(sum, size * (size - 1) / 2);
  gex_Event_Wait(gex_Coll_BroadcastNB(tm, size - 1, &mine, &mine, sizeof mine, 0));
  EXPECT_EQ(mine, size - 1);
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

/* Two disjoint teams at once where there are two ranks. How members are named is each team's own
 * choice. */
CASE(several_teams_by_one_call, "EX-108 EX-111 EX-112 EX-115 EX-120") {
  gex_TM_t parent = backwards();
  for (unsigned i = 0; i < 4; ++i) {
    const gex_Flags_t named = (i >> me % 2) & 1 ? GEX_FLAG_RANK_IS_JOBRANK : 0;
    gex_TM_t tms[2] = {GEX_TM_INVALID, GEX_TM_INVALID};
    const size_t count = choose_parity(named);
    came = 0;
    barrier();
    gex_TM_Create(tms, 1, parent, args, count, NULL, 0, GEX_FLAG_TM_NO_SCRATCH | named);
    EXPECT(tms[0] != GEX_TM_INVALID && tms[1] == GEX_TM_INVALID);
    expect_team(tms[0], count);
    gex_TM_Destroy(tms[0], NULL, 0);
  }
  gex_TM_Destroy(parent, NULL, 0);
}

/* Members of the parent alone call. Rank 1 is none of them. */
CASE(collective_over_the_parent, "EX-108 EX-111") {
  gex_TM_t parent = GEX_TM_INVALID, tm = GEX_TM_INVALID;
  if (nodes < 2) NOT_HERE("one rank is every member");
  came = 0;
  gex_TM_Split(me == 1 ? NULL : &parent, team, 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  const int is_first = freeze_rank_1();
  if (me != 1) {
    const gex_Rank_t size = nodes - 1;
    for (gex_Rank_t rank = 0; rank < size; ++rank) {
      jobranks[rank] = rank == 0 ? 0 : rank + 1;
      args[rank].gex_rank = rank;
      args[rank].gex_ep_index = 0;
    }
    gex_TM_Create(&tm, 1, parent, args, size, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    expect_team(tm, size);
    gex_TM_Destroy(tm, NULL, 0);
    gex_TM_Destroy(parent, NULL, 0);
  }
  if (is_first) thaw_rank_1();
}

/* A caller that names nobody is in no team, and the rest of its arguments is not looked at. */
CASE(no_argument_no_team, "EX-110") {
  gex_TM_t untouched = team;
  gex_Addr_t *const nowhere = (gex_Addr_t *)(uintptr_t)8;
  came = 0;
  barrier();
  for (int i = 0; i < 3; ++i) {
    if (i == 1 || me != nodes - 1) /* in the second round nobody does */
      gex_TM_Create(&untouched, i ? 7 : 0, team, (gex_EP_Location_t *)(void *)(i ? nowhere : NULL),
                    0, i ? nowhere : NULL, 99,
                    i ? GEX_FLAG_TM_GLOBAL_SCRATCH : GEX_FLAG_TM_NO_SCRATCH);
    EXPECT(untouched == team);
    if (i == 1 || me != nodes - 1) continue;
    gex_TM_t alone = GEX_TM_INVALID;
    came = 0;
    args[0].gex_rank = jobranks[0] = me;
    args[0].gex_ep_index = 0;
    gex_TM_Create(&alone, 1, team, args, 1, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    expect_team(alone, 1);
    gex_TM_Destroy(alone, NULL, 0);
  }
}

/* Questions about sizes make no team; members get one answer, others 0. */
static uint64_t ask(gex_TM_t *new_tms, size_t numargs, gex_Flags_t flags) {
  gex_Addr_t *const nowhere = (gex_Addr_t *)(uintptr_t)8;
  gex_TM_t before = new_tms ? *new_tms : GEX_TM_INVALID;
  const size_t bytes = gex_TM_Create(new_tms, numargs ? 1 : 0, team, args, numargs,
                                     me % 2 ? nowhere : NULL, me, flags | GEX_FLAG_RANK_IS_JOBRANK);
  if (new_tms) EXPECT(*new_tms == before);
  return bytes;
}
CASE(sizes_are_asked_for, "EX-109 EX-110 EX-134") {
  static const gex_Flags_t questions[] = {GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED,
                                          GEX_FLAG_TM_SCRATCH_SIZE_MIN};
  for (int i = 0; i < 2; ++i) {
    gex_TM_t untouched = team, half;
    const size_t count = choose_parity(GEX_FLAG_RANK_IS_JOBRANK);
    uint64_t bytes = ask(me % 2 ? NULL : &untouched, count, questions[i]), most = 0, fewest = 0;
    EXPECT(bytes >= 1);
    gex_TM_Split(&half, team, (int)me % 2, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    gex_Event_Wait(
        gex_Coll_ReduceToAllNB(half, &most, &bytes, GEX_DT_U64, 8, 1, GEX_OP_MAX, NULL, NULL, 0));
    gex_Event_Wait(
        gex_Coll_ReduceToAllNB(half, &fewest, &bytes, GEX_DT_U64, 8, 1, GEX_OP_MIN, NULL, NULL, 0));
    EXPECT(most == fewest);
    gex_TM_Destroy(half, NULL, 0);
    bytes = ask(&untouched, me % 2 ? 0 : count, questions[i]); /* odd ranks would be in none */
    EXPECT((bytes == 0) == (me % 2 == 1));
  }
}

/* ---- Scratch memory ----------------------------------------------------------------------------
 */

/* Each member has another address, in its own part; of symmetric memory all have one, as an offset.
 */
static unsigned char *scratch_of(gex_Rank_t jobrank) {
  return (unsigned char *)segments[jobrank].addr + jobrank * part_bytes() + 64 * (jobrank + 1);
}
static gex_Addr_t address_of(gex_Rank_t jobrank, gex_Flags_t flags) {
  const uintptr_t symmetric = 128;
  if (flags & GEX_FLAG_TM_SYMMETRIC_SCRATCH) return (gex_Addr_t)symmetric;
  const uintptr_t offset =
      (uintptr_t)(scratch_of(jobrank) - (unsigned char *)segments[jobrank].addr);
  return flags & GEX_FLAG_SCRATCH_SEG_OFFSET ? (gex_Addr_t)offset : (gex_Addr_t)scratch_of(jobrank);
}
/* The list that the form wants: one entry, or one for each member. Destroy tells which one was this
 * member's. */
static void create_with(gex_TM_t parent, gex_Flags_t form, size_t least) {
  const size_t count = choose_parity(GEX_FLAG_RANK_IS_JOBRANK);
  const gex_Flags_t flags = form | GEX_FLAG_RANK_IS_JOBRANK;
  const size_t bytes = gex_TM_Create(NULL, 1, parent, args, count, NULL, 0,
                                     GEX_FLAG_RANK_IS_JOBRANK | (gex_Flags_t)least);
  gex_Addr_t list[kNodesMax] = {address_of(me, form)};
  gex_TM_t tm = GEX_TM_INVALID;
  gex_Memvec_t back = {NULL, 0};
  for (size_t i = 0; i < count && (form & GEX_FLAG_TM_GLOBAL_SCRATCH); ++i)
    list[i] = address_of(jobranks[i], form);
  came = 0;
  barrier();
  gex_TM_Create(&tm, 1, parent, args, count, list, bytes, flags);
  expect_team(tm, count);
  collectives_work(tm);
  EXPECT(gex_TM_Destroy(tm, &back, form & GEX_FLAG_SCRATCH_SEG_OFFSET) != 0);
  EXPECT(back.gex_addr == address_of(me, form));
  EXPECT_EQ(back.gex_len, bytes);
}
/* The two teams of one call each have a form of their own. */
CASE(scratch_of_each_kind, "EX-117 EX-118") {
  const gex_Flags_t offset = GEX_FLAG_SCRATCH_SEG_OFFSET;
  const gex_Flags_t forms[] = {
      GEX_FLAG_TM_LOCAL_SCRATCH, GEX_FLAG_TM_GLOBAL_SCRATCH, GEX_FLAG_TM_LOCAL_SCRATCH | offset,
      GEX_FLAG_TM_GLOBAL_SCRATCH | offset, GEX_FLAG_TM_SYMMETRIC_SCRATCH | offset};
  gex_TM_t parent = backwards();
  for (unsigned i = 0; i < 10; ++i)
    create_with(parent, forms[(i + (me % 2) * 3) % 5],
                i / 5 ? GEX_FLAG_TM_SCRATCH_SIZE_MIN : GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
  gex_TM_Destroy(parent, NULL, 0);
}

/* With local scratch nobody returns before all members have called: a word that each puts to all
 * before it calls is there. And the first one to return may start a collective at once. */
CASE(local_scratch_is_a_barrier, "EX-120") {
  const size_t count = nodes;
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    args[rank].gex_rank = jobranks[rank] = rank;
    args[rank].gex_ep_index = 0;
  }
  const size_t bytes =
      gex_TM_Create(NULL, 1, team, args, count, NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
  for (uint32_t i = 1; i <= 20; ++i) {
    gex_TM_t tm = GEX_TM_INVALID;
    gex_Addr_t scratch = part(me) + 4096;
    uint32_t told = me == 0 ? i : 0;
    for (unsigned poll = 0; (i + me) % 2 == 0 && poll < 1000; ++poll) gasnet_AMPoll();
    for (gex_Rank_t to = 0; to < nodes; ++to)
      gex_RMA_PutBlocking(team, to, part(to), &i, sizeof i, 0);
    gex_TM_Create(&tm, 1, team, args, count, &scratch, bytes, GEX_FLAG_TM_LOCAL_SCRATCH);
    const gex_Event_t event = gex_Coll_BroadcastNB(tm, 0, &told, &told, sizeof told, 0);
    for (gex_Rank_t from = 0; from < nodes; ++from)
      EXPECT(*(volatile uint32_t *)((char *)segments[me].addr + from * part_bytes()) >= i);
    gex_Event_Wait(event);
    EXPECT_EQ(told, i);
    gex_TM_Destroy(tm, NULL, 0);
    barrier();
  }
}
