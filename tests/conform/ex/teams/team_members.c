/* gex_TM_Create with endpoints of every kind, and several members of one process (GASNet-EX
 * additions 5.3). */
#include "../endpoints/second_endpoint.h"

enum { kMembersMax = kEndpoints * kNodesMax };
static gex_EP_Location_t args[kMembersMax];

/* Every endpoint: second ones first, by rank; then the first ones, by falling rank. Members of a
 * process therefore lie apart, and the first is its second endpoint. */
static size_t name_everyone(void) {
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    args[rank].gex_rank = rank;
    args[rank].gex_ep_index = second_index;
    args[2 * nodes - 1 - rank].gex_rank = rank;
    args[2 * nodes - 1 - rank].gex_ep_index = 0;
  }
  return 2 * (size_t)nodes;
}
static gex_Rank_t rank_of(int member) { return member == 0 ? me : 2 * nodes - 1 - me; }

/* The first of the two handles is the second endpoint's. */
static void expect_everyone(const gex_TM_t *tms) {
  for (int member = 0; member < 2; ++member) {
    EXPECT_EQ(gex_TM_QueryRank(tms[member]), rank_of(member));
    EXPECT_EQ(gex_TM_QuerySize(tms[member]), 2 * nodes);
    EXPECT(gex_TM_QueryEP(tms[member]) == endpoints[1 - member]);
    EXPECT(gex_TM_QueryClient(tms[member]) == client);
    for (gex_Rank_t rank = 0; rank < 2 * nodes; ++rank) {
      const gex_EP_Location_t is = gex_TM_TranslateRankToEP(tms[member], rank, 0);
      EXPECT(is.gex_rank == args[rank].gex_rank && is.gex_ep_index == args[rank].gex_ep_index);
      EXPECT_EQ(gex_TM_TranslateRankToJobrank(tms[member], rank), args[rank].gex_rank);
    }
  }
}

/* One handle for each member here, by rank, and no more are written. */
CASE(a_handle_for_each_member, "EX-111 EX-116 EX-121 EX-122") {
  need_second_endpoint();
  gex_TM_t tms[3] = {team, team, team};
  const size_t count = name_everyone();
  gex_TM_Create(tms, 2, team, args, count, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  EXPECT(tms[0] != tms[1] && tms[0] != team && tms[1] != team && tms[2] == team);
  expect_everyone(tms);
  EXPECT(gex_TM_QueryCData(tms[0]) == NULL);
  gex_TM_SetCData(tms[0], &tms[0]); /* of this member alone */
  EXPECT(gex_TM_QueryCData(tms[0]) == &tms[0] && gex_TM_QueryCData(tms[1]) == NULL);
  gex_TM_Destroy(tms[0], NULL, 0);
  gex_TM_Destroy(tms[1], NULL, 0);
}

/* One thread ends both members, one after the other, and no member waits for its neighbour. */
CASE(a_named_barrier_of_both_members_here, "EX-121") {
  need_second_endpoint();
  gex_TM_t tms[2];
  const size_t count = name_everyone();
  gex_TM_Create(tms, 2, team, args, count, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  for (int round = 0; round < 3; ++round) {
    for (int member = 0; member < 2; ++member) gasnet_coll_barrier_notify(tms[member], round, 0);
    for (int member = 0; member < 2; ++member)
      EXPECT_EQ(gasnet_coll_barrier_wait(tms[member], round, 0), GASNET_OK);
  }
  gex_TM_Destroy(tms[0], NULL, 0);
  gex_TM_Destroy(tms[1], NULL, 0);
}

/* From every member to every other: memory and handlers are those of the endpoint that the rank
 * names. */
CASE(each_rank_is_its_endpoint, "EX-120 EX-121") {
  need_second_endpoint();
  gex_TM_t tms[2];
  static unsigned char payload[200];
  const size_t count = name_everyone();
  gex_TM_Create(tms, 2, team, args, count, NULL, 0,
                GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_RANK_IS_JOBRANK);
  fill(payload, sizeof payload, me);
  for (int member = 0; member < 2; ++member) {
    for (gex_Rank_t rank = 0; rank < 2 * nodes; ++rank) {
      const gex_Rank_t owner = args[rank].gex_rank;
      unsigned char *const there = rank < nodes ? second_part(owner) : part(owner);
      uint64_t word = me * 100 + rank + (rank < nodes);
      gex_RMA_PutBlocking(tms[member], rank, there, &word, sizeof word, 0);
      word = 0;
      gex_RMA_GetBlocking(tms[member], &word, rank, there, sizeof word, 0);
      EXPECT_EQ(word, me * 100 + rank + (rank < nodes));
      gex_AM_RequestMedium1(tms[member], rank, payload_handler(), payload, sizeof payload,
                            GEX_EVENT_NOW, 0, (gex_AM_Arg_t)me);
    }
  }
  for (int i = 0; i < 2; ++i) { /* from both endpoints of each rank; answers to both of mine */
    AWAIT(came[i], 2 * nodes);
    AWAIT(answered[i], 2 * nodes);
  }
  gex_TM_Destroy(tms[0], NULL, 0);
  gex_TM_Destroy(tms[1], NULL, 0);
}

/* The endpoint of the parent is in no new team; ranks of the parent name its members' processes. */
CASE(parents_endpoint_stays_out, "EX-112 EX-115") {
  need_second_endpoint();
  gex_TM_t parent, tm = GEX_TM_INVALID;
  gex_TM_Split(&parent, team, 0, -(int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    args[rank].gex_rank = rank; /* jobrank nodes - 1 - rank */
    args[rank].gex_ep_index = second_index;
  }
  gex_TM_Create(&tm, 1, parent, args, nodes, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  gex_TM_Destroy(parent, NULL, 0);
  EXPECT_EQ(gex_TM_QuerySize(tm), nodes);
  EXPECT_EQ(gex_TM_QueryRank(tm), nodes - 1 - me);
  EXPECT(gex_TM_QueryEP(tm) == endpoints[1]);
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    const gex_EP_Location_t is = gex_TM_TranslateRankToEP(tm, rank, 0);
    EXPECT(is.gex_rank == nodes - 1 - rank && is.gex_ep_index == second_index);
    EXPECT_EQ(gex_AM_RequestShort0(tm, rank, answer_handler(), 0), 0);
  }
  AWAIT(answered[1], nodes);
  EXPECT_EQ(answered[0], 0);
  gex_TM_Destroy(tm, NULL, 0);
  EXPECT(gex_EP_QuerySegment(endpoints[1]) == second_segment); /* it outlives the team (EX-088) */
}

/* Scratch memory of both members, a list by this process's members or by all; each member is told
 * its own. */
static void collectives_of_both(const gex_TM_t *tms) {
  uint32_t sums[2], ranks[2] = {gex_TM_QueryRank(tms[0]), gex_TM_QueryRank(tms[1])};
  const uint32_t size = gex_TM_QuerySize(tms[0]);
  gex_Event_t events[4];
  for (int i = 0; i < 2; ++i) {
    events[2 * i] = gex_Coll_ReduceToAllNB(tms[i], &sums[i], &ranks[i], GEX_DT_U32, 4, 1,
                                           GEX_OP_ADD, NULL, NULL, 0);
    events[2 * i + 1] = gex_Coll_BarrierNB(tms[i], 0);
  }
  gex_Event_WaitAll(events, 4, 0);
  EXPECT_EQ(sums[0], size * (size - 1) / 2);
  EXPECT_EQ(sums[1], size * (size - 1) / 2);
}
static gex_Addr_t scratch_of(gex_Rank_t jobrank, int is_second, gex_Flags_t form) {
  unsigned char *const address = is_second ? second_part(jobrank) : part(jobrank);
  const uintptr_t offset = is_second ? me * second_part_bytes() : me * part_bytes();
  /* The part of each rank's memory that is that rank's own. */
  const uintptr_t own = is_second ? jobrank * second_part_bytes() : jobrank * part_bytes();
  return form & GEX_FLAG_SCRATCH_SEG_OFFSET ? (gex_Addr_t)own
                                            : (gex_Addr_t)(address - offset + own);
}
CASE(scratch_of_each_member, "EX-117 EX-118 EX-121") {
  need_second_endpoint();
  const size_t count = name_everyone();
  const gex_Flags_t offset = GEX_FLAG_SCRATCH_SEG_OFFSET;
  const gex_Flags_t forms[] = {GEX_FLAG_TM_LOCAL_SCRATCH, GEX_FLAG_TM_GLOBAL_SCRATCH,
                               GEX_FLAG_TM_LOCAL_SCRATCH | offset,
                               GEX_FLAG_TM_GLOBAL_SCRATCH | offset};
  const size_t bytes =
      gex_TM_Create(NULL, 2, team, args, count, NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_MIN);
  EXPECT(bytes >= 1 && bytes <= second_part_bytes());
  for (int i = 0; i < 4; ++i) {
    gex_Addr_t list[kMembersMax] = {scratch_of(me, 1, forms[i]), scratch_of(me, 0, forms[i])};
    gex_TM_t tms[2];
    for (gex_Rank_t rank = 0; rank < count && (forms[i] & GEX_FLAG_TM_GLOBAL_SCRATCH); ++rank)
      list[rank] = scratch_of(args[rank].gex_rank, rank < nodes, forms[i]);
    gex_TM_Create(tms, 2, team, args, count, list, bytes, forms[i]);
    expect_everyone(tms);
    collectives_of_both(tms);
    for (int member = 0; member < 2; ++member) {
      gex_Memvec_t back = {NULL, 0};
      EXPECT(gex_TM_Destroy(tms[member], &back, forms[i] & offset) != 0);
      EXPECT(back.gex_addr == scratch_of(me, 1 - member, forms[i]));
      EXPECT_EQ(back.gex_len, bytes);
    }
  }
}
