/* The scratch memory of gex_TM_Split, and how it is asked for (GASNet-EX 0.19, "Teams"). */
#include "../ex.h"

enum { kWord = 7000 };

/* Collectives of each kind, over and over. */
static void use_collectives(gex_TM_t tm) {
  const gex_Rank_t size = gex_TM_QuerySize(tm), rank = gex_TM_QueryRank(tm);
  uint64_t block[512], sum[512];
  for (int round = 0; round < 5; ++round) {
    for (gex_Rank_t root = 0; root < size; ++root) {
      uint32_t word = rank == root ? kWord + root : 0;
      gex_Event_Wait(gex_Coll_BroadcastNB(tm, root, &word, &word, sizeof word, 0));
      EXPECT_EQ(word, kWord + root);
    }
    for (unsigned i = 0; i < 512; ++i) block[i] = i + rank;
    gex_Event_Wait(
        gex_Coll_ReduceToAllNB(tm, sum, block, GEX_DT_U64, 8, 512, GEX_OP_ADD, NULL, NULL, 0));
    for (unsigned i = 0; i < 512; ++i) EXPECT_EQ(sum[i], i * size + size * (size - 1) / 2);
    gex_Coll_BarrierBlocking(tm, 0);
  }
}

/* Two colours with sizes of their own; what is given comes back when the team ends. */
CASE(scratch_is_lent_until_the_end, "GX-070 GX-072") {
  const int color = (int)me % 2;
  gex_TM_t tm = GEX_TM_INVALID;
  gex_Memvec_t given = {NULL, 0};
  const size_t bytes =
      gex_TM_Split(&tm, team, color, 0, NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED) +
      (size_t)color * 640;
  EXPECT(bytes + 128 <= part_bytes());
  memset(part(me), 0x5a, 64);
  memset(part(me) + 64 + bytes, 0x5a, 64);
  EXPECT_EQ(gex_TM_Split(&tm, team, color, 0, part(me) + 64, bytes, 0), 0);
  EXPECT_EQ(gex_TM_QueryFlags(tm), 0);
  use_collectives(tm);
  EXPECT(gex_TM_Destroy(tm, &given, 0) != 0);
  EXPECT(given.gex_addr == part(me) + 64 && given.gex_len == bytes);
  EXPECT(all_bytes_are(part(me), 64, 0x5a) && all_bytes_are(part(me) + 64 + bytes, 64, 0x5a));
}

CASE(teams_without_scratch_have_collectives, "GX-070 GX-072") {
  gex_TM_t tm = GEX_TM_INVALID;
  gex_Memvec_t given = {&tm, 77};
  EXPECT_EQ(gex_TM_Split(&tm, team, 0, -(int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH), 0);
  use_collectives(tm);
  EXPECT_EQ(gex_TM_Destroy(tm, &given, 0), 0);
  EXPECT(given.gex_addr == &tm && given.gex_len == 77);
}

/* Some teams of one split have scratch memory, others none. */
CASE(each_team_has_it_or_not, "GX-070") {
  const int color = (int)me % 2;
  gex_TM_t tm = GEX_TM_INVALID;
  const size_t bytes =
      gex_TM_Split(&tm, team, color, 0, NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
  gex_TM_Split(&tm, team, color, 0, color ? NULL : part(me), color ? 0 : bytes,
               color ? GEX_FLAG_TM_NO_SCRATCH : 0);
  use_collectives(tm);
  EXPECT_EQ(gex_TM_Destroy(tm, NULL, 0) != 0, 0); /* nobody wants to know where it was */
}

/* ---- Queries --------------------------------------------------------------------------------- */

static void ask(gex_Flags_t query) {
  size_t sizes[kNodesMax];
  gex_TM_t tm = GEX_TM_INVALID;
  for (int i = 0; i < 20; ++i) {
    const size_t bytes = gex_TM_Split(&tm, team, (int)me % 2, -(int)me, NULL, 0, query);
    EXPECT(bytes > 0); /* as a size of 0 could not be passed */
    EXPECT(tm == GEX_TM_INVALID);
    tell_all(team, bytes, sizes);
    for (gex_Rank_t rank = me % 2; rank < nodes; rank += 2) EXPECT_EQ(sizes[rank], bytes);
  }
}
CASE(query_of_the_recommended_size, "GX-071") { ask(GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED); }
CASE(query_of_the_least_size, "GX-071") { ask(GEX_FLAG_TM_SCRATCH_SIZE_MIN); }

/* Rank 0 would be in no team. */
CASE(query_of_who_is_in_no_team, "GX-071") {
  static const gex_Flags_t queries[] = {GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED,
                                        GEX_FLAG_TM_SCRATCH_SIZE_MIN};
  size_t sizes[kNodesMax];
  for (int q = 0; q < 2; ++q) {
    gex_TM_t tm = GEX_TM_INVALID;
    const size_t bytes = gex_TM_Split(me == 0 ? NULL : &tm, team, 0, 0, NULL, 0, queries[q]);
    EXPECT_EQ(bytes != 0, me != 0);
    tell_all(team, bytes, sizes);
    for (gex_Rank_t rank = 1; rank < nodes; ++rank) EXPECT_EQ(sizes[rank], sizes[1]);
  }
}
