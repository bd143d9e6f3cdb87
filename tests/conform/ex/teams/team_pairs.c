/* gex_TM_Pair (GASNet-EX additions 5.4): a local endpoint and the index of remote ones. */
#include "../endpoints/second_endpoint.h"

static gex_TM_t pair_of(int from, int to) {
  return gex_TM_Pair(endpoints[from], to ? second_index : 0);
}
static unsigned char *part_of(int to, gex_Rank_t rank) {
  return to ? second_part(rank) : part(rank);
}

/* For every pair of endpoints, and every rank: a jobrank, whatever teams there are. */
#define FOR_ALL_PAIRS(from, to, rank)           \
  for (int from = 0; from < kEndpoints; ++from) \
    for (int to = 0; to < kEndpoints; ++to)     \
      for (gex_Rank_t rank = 0; rank < nodes; ++rank)

/* Equal if made alike, else not; no team, and not the invalid one. */
CASE(equal_if_made_alike, "EX-127 EX-128 EX-131") {
  need_second_endpoint();
  gex_TM_t all[4];
  for (int i = 0; i < 4; ++i) all[i] = pair_of(i / 2, i % 2);
  for (int i = 0; i < 4; ++i) {
    EXPECT(all[i] != GEX_TM_INVALID && all[i] != team);
    for (int k = 0; k < 4; ++k) EXPECT((all[i] == pair_of(k / 2, k % 2)) == (i == k));
  }
  /* As many as one likes, and none of them freed; nor need anybody else do anything. */
  const int is_first = nodes > 1 && freeze_rank_1();
  for (int i = 0; i < 100000; ++i)
    EXPECT(pair_of(i & 1, i >> 1 & 1) == all[(i & 1) * 2 + (i >> 1 & 1)]);
  if (is_first) thaw_rank_1();
  gex_TM_t tm;
  gex_TM_Dup(&tm, team, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  for (int i = 0; i < 4; ++i) EXPECT(all[i] != tm);
  gex_TM_Destroy(tm, NULL, 0);
}

static void put_and_get(gex_TM_t pair, gex_Rank_t rank, unsigned char *there, unsigned seed) {
  enum { kBytes = 1500 };
  unsigned char source[kBytes], got[kBytes];
  fill(source, kBytes, seed);
  EXPECT_EQ(gex_RMA_PutBlocking(pair, rank, there, source, kBytes, 0), 0);
  EXPECT_EQ(gex_RMA_GetBlocking(pair, got, rank, there, kBytes, 0), 0);
  EXPECT(holds(got, kBytes, seed));
  fill(source, kBytes, seed + 1);
  gex_Event_Wait(gex_RMA_PutNB(pair, rank, there, source, kBytes, GEX_EVENT_DEFER, 0));
  gex_Event_Wait(gex_RMA_GetNB(pair, got, rank, there, kBytes, 0));
  EXPECT(holds(got, kBytes, seed + 1));
  fill(source, kBytes, seed + 2);
  EXPECT_EQ(gex_RMA_PutNBI(pair, rank, there, source, kBytes, GEX_EVENT_NOW, 0), 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  EXPECT_EQ(gex_RMA_GetNBI(pair, got, rank, there, kBytes, 0), 0);
  gex_NBI_Wait(GEX_EC_GET, 0);
  EXPECT(holds(got, kBytes, seed + 2));
  EXPECT_EQ(gex_RMA_PutBlockingVal(pair, rank, there, seed + 5, 4, 0), 0);
  EXPECT_EQ(gex_RMA_GetBlockingVal(pair, rank, there, 4, 0), seed + 5);
  gex_Event_Wait(gex_RMA_PutNBVal(pair, rank, there, seed + 6, 4, 0));
  EXPECT_EQ(gex_RMA_PutNBIVal(pair, rank, there + 4, seed + 7, 4, 0), 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  EXPECT_EQ(gex_RMA_GetBlockingVal(pair, rank, there, 4, 0), seed + 6);
  EXPECT_EQ(gex_RMA_GetBlockingVal(pair, rank, there + 4, 4, 0), seed + 7);
}
CASE(transfers, "EX-127 EX-128 EX-130 EX-133") {
  need_second_endpoint();
  gex_TM_t kept[kEndpoints][kEndpoints];
  for (int i = 0; i < 4; ++i) kept[i / 2][i % 2] = pair_of(i / 2, i % 2);
  for (unsigned round = 0; round < 3; ++round) FOR_ALL_PAIRS(from, to, rank)
  put_and_get(kept[from][to], rank, part_of(to, rank), 8 * round + me + rank);
}

/* Endpoints of a pair have their own memory: what the one has is not the other's. */
CASE(index_chooses_the_memory, "EX-127 EX-133") {
  need_second_endpoint();
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    uint64_t words[2] = {me + 1000, me + 2000}, over_team = 0;
    for (int to = 0; to < 2; ++to)
      gex_RMA_PutBlocking(pair_of(1 - to, to), rank, part_of(to, rank), &words[to], 8, 0);
    gex_RMA_GetBlocking(team, &over_team, rank, part(rank), 8, 0); /* index 0: as the first team */
    EXPECT_EQ(over_team, me + 1000);
  }
  barrier();
  for (gex_Rank_t from = 0; from < nodes; ++from) {
    const unsigned char *const first = (unsigned char *)segments[me].addr + from * part_bytes();
    const unsigned char *const second =
        (unsigned char *)gex_Segment_QueryAddr(second_segment) + from * second_part_bytes();
    uint64_t words[2];
    memcpy(&words[0], first, 8);
    memcpy(&words[1], second, 8);
    EXPECT(words[0] == from + 1000 && words[1] == from + 2000);
  }
}

/* Each form of a put and a get of several pieces. */
static void put_and_get_pieces(gex_TM_t pair, gex_Rank_t rank, unsigned char *there,
                               unsigned seed) {
  unsigned char source[256], got[256];
  fill(source, 256, seed);
  memset(got, 0, 256);
  const gex_Memvec_t near[2] = {{source, 100}, {source + 100, 156}};
  const gex_Memvec_t far[1] = {{there, 256}}, back[2] = {{got, 50}, {got + 50, 206}};
  gex_Event_Wait(gex_VIS_VectorPutNB(pair, rank, 1, far, 2, near, 0));
  EXPECT_EQ(gex_VIS_VectorGetBlocking(pair, 2, back, rank, 1, far, 0), 0);
  EXPECT(holds(got, 256, seed));
  void *const near_pieces[2] = {source, source + 128}, *const far_pieces[2] = {there + 128, there};
  void *const back_pieces[2] = {got + 128, got};
  EXPECT_EQ(gex_VIS_IndexedPutBlocking(pair, rank, 2, far_pieces, 128, 2, near_pieces, 128, 0), 0);
  gex_Event_Wait(gex_VIS_IndexedGetNB(pair, 2, back_pieces, 128, rank, 2, far_pieces, 128, 0));
  EXPECT(memcmp(got, source + 128, 128) == 0 && memcmp(got + 128, source, 128) == 0);
  const ptrdiff_t apart[1] = {16}, together[1] = {8};
  const size_t count[1] = {16};
  EXPECT_EQ(gex_VIS_StridedPutNBI(pair, rank, there, together, source, apart, 8, count, 1, 0), 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  gex_Event_Wait(gex_VIS_StridedGetNB(pair, got, apart, rank, there, together, 8, count, 1, 0));
  for (int i = 0; i < 16; ++i) EXPECT(memcmp(got + 16 * i, source + 16 * i, 8) == 0);
}
CASE(pieces, "EX-130 EX-133") {
  need_second_endpoint();
  FOR_ALL_PAIRS(from, to, rank)
  put_and_get_pieces(pair_of(from, to), rank, part_of(to, rank), me + rank);
}

/* Messages come to the endpoint of the index, whose handler answers to the local endpoint of the
 * pair. */
CASE(messages, "EX-127 EX-130 EX-133") {
  static unsigned char payload[300];
  need_second_endpoint();
  const unsigned due = 2 * nodes; /* from or to two endpoints of each rank */
  fill(payload, sizeof payload, me);
  FOR_ALL_PAIRS(from, to, rank)
  gex_AM_RequestMedium1(pair_of(from, to), rank, payload_handler(), payload, sizeof payload,
                        GEX_EVENT_NOW, 0, (gex_AM_Arg_t)me);
  FOR_ALL_PAIRS(from, to, rank)
  gex_AM_RequestLong1(pair_of(from, to), rank, payload_handler(), payload, sizeof payload,
                      part_of(to, rank) + 512 * from, GEX_EVENT_NOW, 0, (gex_AM_Arg_t)me);
  for (int i = 0; i < kEndpoints; ++i) {
    AWAIT(came[i], 2 * due);
    AWAIT(answered[i], 2 * due);
  }
  barrier();
  FOR_ALL_PAIRS(from, to, rank)
  gex_AM_RequestShort0(pair_of(from, to), rank, answer_handler(), 0);
  for (int i = 0; i < kEndpoints; ++i) AWAIT(answered[i], 3 * due);
  barrier();
  for (int i = 0; i < kEndpoints; ++i) EXPECT(came[i] == 2 * due && answered[i] == 3 * due);
}

CASE(limits_of_messages, "EX-130") {
  need_second_endpoint();
  FOR_ALL_PAIRS(from, to, rank) {
    const gex_TM_t pair = pair_of(from, to);
    for (unsigned args = 0; args <= 16; args += 8) {
      EXPECT(gex_AM_MaxRequestMedium(pair, rank, GEX_EVENT_NOW, 0, args) >=
             gex_AM_LUBRequestMedium());
      EXPECT(gex_AM_MaxReplyMedium(pair, rank, GEX_EVENT_NOW, 0, args) >= gex_AM_LUBReplyMedium());
      EXPECT(gex_AM_MaxRequestLong(pair, rank, GEX_EVENT_NOW, 0, args) >= gex_AM_LUBRequestLong());
      EXPECT(gex_AM_MaxReplyLong(pair, rank, GEX_EVENT_NOW, 0, args) >= gex_AM_LUBReplyLong());
    }
  }
}

CASE(segments_are_found, "EX-130 EX-133") {
  need_second_endpoint();
  FOR_ALL_PAIRS(from, to, rank) {
    void *address = NULL, *again = NULL;
    uintptr_t bytes = 0, size = 0;
    const uintptr_t offset = me * (to ? second_part_bytes() : part_bytes());
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(pair_of(from, to), rank, &address, NULL, &bytes, 0));
    EXPECT((unsigned char *)address + offset == part_of(to, rank));
    EXPECT_EQ(bytes, to ? kSecondBytes : segments[rank].size);
    EXPECT_EQ(gex_Segment_QueryBound(pair_of(from, to), rank, &again, NULL, &size), 0);
    EXPECT(again == address && size == bytes);
  }
}

/* Those that a handler made, with a lock held, are those that are made here. */
CASE(made_in_a_handler, "EX-131 EX-132") {
  need_second_endpoint();
  unsigned char byte;
  fill(&byte, 1, 3);
  gex_AM_RequestMedium1(pair_of(1, 0), (me + 1) % nodes, payload_handler(), &byte, 1, GEX_EVENT_NOW,
                        0, 3);
  AWAIT(came[0], 1);
  for (int i = 0; i < 8; ++i)
    EXPECT(pairs_of_handler[i & 1][i >> 1 & 1][i >> 2 & 1] == pair_of(i >> 1 & 1, i >> 2 & 1));
  put_and_get(pairs_of_handler[0][0][1], me, second_part(me), 9);
  AWAIT(answered[1], 1);
}
