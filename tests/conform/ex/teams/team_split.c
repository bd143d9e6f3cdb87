/* gex_TM_Split and what is asked of teams (GASNet-EX 0.19, "Teams"). */
#include <limits.h>

#include "../ex.h"

CASE(declarations, "GX-068") {
  gex_Client_t (*const owner)(gex_TM_t) = gex_TM_QueryClient;
  gex_EP_t (*const member)(gex_TM_t) = gex_TM_QueryEP;
  gex_Flags_t (*const flags)(gex_TM_t) = gex_TM_QueryFlags;
  gex_Rank_t (*const rank)(gex_TM_t) = gex_TM_QueryRank;
  gex_Rank_t (*const size)(gex_TM_t) = gex_TM_QuerySize;
  size_t (*const split)(gex_TM_t *, gex_TM_t, int, int, void *, size_t, gex_Flags_t) = gex_TM_Split;
  gex_Rank_t (*const to_jobrank)(gex_TM_t, gex_Rank_t) = gex_TM_TranslateRankToJobrank;
  gex_Rank_t (*const to_rank)(gex_TM_t, gex_Rank_t) = gex_TM_TranslateJobrankToRank;
  EXPECT(owner(team) == client && member(team) == endpoint);
  EXPECT_EQ(rank(team), me);
  EXPECT_EQ(size(team), nodes);
  EXPECT(flags != NULL && split != NULL);
  EXPECT_EQ(to_jobrank(team, me), me);
  EXPECT_EQ(to_rank(team, me), me);
}

/* ---- Who is in a team, and where ------------------------------------------------------------- */

/* The arguments of one caller: the same everywhere by construction. */
struct call {
  int color, key, is_in;
};
enum { kOrders = 4, kRounds = 40 };

static struct call call_of(unsigned round, gex_Rank_t rank) {
  static const int colors[] = {0, 1, INT_MAX};
  const unsigned word = (round * 37 + rank * 101 + 7) * 2654435761u;
  static const int keys[kOrders] = {0, -1, INT_MIN, INT_MAX};
  const struct call call = {colors[word >> 8 & 1 ? 2 : word >> 9 & 1], keys[word >> 13 & 3],
                            (word >> 17 & 3) != 0};
  return call;
}

/* The parent's ranks that are in the team of `rank`, by key and then by rank. */
static gex_Rank_t members_with(unsigned round, gex_Rank_t rank, gex_Rank_t size,
                               gex_Rank_t *members) {
  const struct call mine = call_of(round, rank);
  gex_Rank_t count = 0;
  for (gex_Rank_t r = 0; r < size; ++r) {
    const struct call call = call_of(round, r);
    gex_Rank_t at = count;
    if (!call.is_in || call.color != mine.color) continue;
    for (; at > 0 && call_of(round, members[at - 1]).key > call.key; --at)
      members[at] = members[at - 1];
    members[at] = r;
    ++count;
  }
  return count;
}

static void check_members(gex_TM_t tm, gex_TM_t parent, const gex_Rank_t *members,
                          gex_Rank_t count) {
  gex_Rank_t rank_of[kNodesMax];
  for (gex_Rank_t jobrank = 0; jobrank < nodes; ++jobrank) rank_of[jobrank] = GEX_RANK_INVALID;
  EXPECT_EQ(gex_TM_QuerySize(tm), count);
  EXPECT(gex_TM_QueryClient(tm) == client && gex_TM_QueryEP(tm) == endpoint);
  EXPECT_EQ(members[gex_TM_QueryRank(tm)], gex_TM_QueryRank(parent));
  for (gex_Rank_t rank = 0; rank < count; ++rank) {
    const gex_Rank_t jobrank = gex_TM_TranslateRankToJobrank(parent, members[rank]);
    EXPECT_EQ(gex_TM_TranslateRankToJobrank(tm, rank), jobrank);
    rank_of[jobrank] = rank;
  }
  for (gex_Rank_t jobrank = 0; jobrank < nodes; ++jobrank)
    EXPECT_EQ(gex_TM_TranslateJobrankToRank(tm, jobrank), rank_of[jobrank]);
}

static void split_and_check(gex_TM_t parent, unsigned round) {
  const gex_Rank_t rank = gex_TM_QueryRank(parent);
  const struct call mine = call_of(round, rank);
  gex_Rank_t members[kNodesMax];
  gex_TM_t tm = GEX_TM_INVALID;
  const size_t result = gex_TM_Split(mine.is_in ? &tm : NULL, parent, mine.color, mine.key, NULL, 0,
                                     GEX_FLAG_TM_NO_SCRATCH);
  EXPECT_EQ(result, 0); /* not a query */
  EXPECT_EQ(tm != GEX_TM_INVALID, mine.is_in);
  if (!mine.is_in) return;
  EXPECT_EQ(gex_TM_QueryFlags(tm), GEX_FLAG_TM_NO_SCRATCH);
  check_members(tm, parent, members, members_with(round, rank, gex_TM_QuerySize(parent), members));
  gex_TM_Destroy(tm, NULL, 0);
}

CASE(members_by_color_key_and_rank, "GX-069 GX-072 GX-073") {
  for (unsigned round = 0; round < kRounds; ++round) split_and_check(team, round);
}

/* Equal keys keep the order of the parent, which is not that of the job. */
CASE(ties_go_by_the_parents_rank, "GX-069 GX-073") {
  gex_TM_t backwards = GEX_TM_INVALID, twin = GEX_TM_INVALID;
  gex_TM_Split(&backwards, team, 3, -(int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  gex_TM_Split(&twin, backwards, 3, 5, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  for (gex_Rank_t rank = 0; rank < nodes; ++rank)
    EXPECT_EQ(gex_TM_TranslateRankToJobrank(twin, rank), nodes - 1 - rank);
  for (unsigned round = 0; round < kRounds; ++round) split_and_check(backwards, round);
  gex_TM_Destroy(twin, NULL, 0);
  gex_TM_Destroy(backwards, NULL, 0);
}

CASE(jobrank_outside_the_team, "GX-073") {
  gex_TM_t alone = GEX_TM_INVALID;
  gex_TM_Split(&alone, team, (int)me, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  EXPECT_EQ(gex_TM_QuerySize(alone), 1);
  EXPECT_EQ(gex_TM_TranslateRankToJobrank(alone, 0), me);
  for (gex_Rank_t jobrank = 0; jobrank < nodes; ++jobrank)
    EXPECT_EQ(gex_TM_TranslateJobrankToRank(alone, jobrank), jobrank == me ? 0 : GEX_RANK_INVALID);
  gex_TM_Destroy(alone, NULL, 0);
}
