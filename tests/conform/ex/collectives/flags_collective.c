/* Flags of atomics and of teams (GX-046, GX-047, GX-050). */
#include "../ex.h"

enum { kScratchAt = 65536 };

/* In this rank's own part, where no case puts anything meanwhile. */
static unsigned char *scratch(void) { return part(me) + kScratchAt; }
static int64_t *counter_of(gex_Rank_t jobrank) {
  return (int64_t *)((unsigned char *)segments[jobrank].addr + jobrank * part_bytes());
}
static void sync_all(gex_TM_t tm) { gex_Event_Wait(gex_Coll_BarrierNB(tm, 0)); }

/* Every rank adds to every counter; each ends with the sum. */
static void add_everywhere(gex_TM_t tm, gex_AD_t domain, gex_Flags_t flags) {
  gex_Event_Wait(gex_AD_OpNB_I64(domain, NULL, me, counter_of(me), GEX_OP_SET, 100 * (int64_t)me, 0,
                                 GEX_FLAG_RANK_IS_JOBRANK));
  sync_all(tm);
  for (gex_Rank_t jobrank = 0; jobrank < nodes; ++jobrank) {
    const gex_Rank_t rank =
        flags & GEX_FLAG_RANK_IS_JOBRANK ? jobrank : gex_TM_TranslateJobrankToRank(tm, jobrank);
    int64_t old = -1;
    gex_Event_Wait(
        gex_AD_OpNB_I64(domain, &old, rank, counter_of(jobrank), GEX_OP_FADD, me + 1, 0, flags));
    EXPECT(old >= 100 * (int64_t)jobrank && old < 100 * (int64_t)jobrank + 100);
    EXPECT_EQ(gex_AD_OpNBI_I64(domain, &old, rank, counter_of(jobrank), GEX_OP_FADD, 1, 0, flags),
              0);
    gex_NBI_Wait(GEX_EC_RMW, 0);
  }
  sync_all(tm);
  int64_t sum = -1;
  gex_Event_Wait(gex_AD_OpNB_I64(domain, &sum, me, counter_of(me), GEX_OP_GET, 0, 0,
                                 GEX_FLAG_RANK_IS_JOBRANK));
  EXPECT_EQ(sum, 100 * (int64_t)me + nodes * (nodes + 1) / 2 + nodes);
  sync_all(tm);
}

CASE(favours_of_domains, "GX-046") {
  const gex_Flags_t favours[] = {0, GEX_FLAG_AD_FAVOR_MY_RANK, GEX_FLAG_AD_FAVOR_MY_NBRHD,
                                 GEX_FLAG_AD_FAVOR_REMOTE};
  for (int i = 0; i < 4; ++i) {
    gex_AD_t domain;
    gex_AD_Create(&domain, team, GEX_DT_I64, GEX_OP_SET | GEX_OP_GET | GEX_OP_FADD, favours[i]);
    EXPECT_EQ(gex_AD_QueryFlags(domain), favours[i]);
    sync_all(team);
    add_everywhere(team, domain, 0);
    gex_AD_Destroy(domain);
  }
}
CASE(fences_of_operations, "GX-046") {
  gex_AD_t domain;
  gex_AD_Create(&domain, team, GEX_DT_I64, GEX_OP_SET | GEX_OP_GET | GEX_OP_FADD, 0);
  sync_all(team);
  add_everywhere(team, domain, GEX_FLAG_AD_ACQ);
  add_everywhere(team, domain, GEX_FLAG_AD_REL);
  add_everywhere(team, domain, GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL);
  gex_AD_Destroy(domain);
}
CASE(places_of_operations, "GX-046") {
  gex_AD_t domain;
  gex_RankInfo_t *near;
  gex_Rank_t count;
  int64_t old;
  gex_System_QueryNbrhdInfo(&near, &count, NULL);
  gex_AD_Create(&domain, team, GEX_DT_I64, GEX_OP_SET | GEX_OP_FADD, 0);
  sync_all(team);
  gex_Event_Wait(
      gex_AD_OpNB_I64(domain, NULL, me, counter_of(me), GEX_OP_SET, 7, 0, GEX_FLAG_AD_MY_RANK));
  gex_Event_Wait(
      gex_AD_OpNB_I64(domain, &old, me, counter_of(me), GEX_OP_FADD, 1, 0, GEX_FLAG_AD_MY_NBRHD));
  EXPECT_EQ(old, 7);
  sync_all(team);
  for (gex_Rank_t i = 0; i < count; ++i) {
    const gex_Rank_t rank = near[i].gex_jobrank;
    gex_Event_Wait(gex_AD_OpNB_I64(domain, &old, rank, counter_of(rank), GEX_OP_FADD, 1, 0,
                                   GEX_FLAG_AD_MY_NBRHD | GEX_FLAG_AD_ACQ));
    EXPECT(old >= 8 && old < 8 + (int64_t)count);
  }
  sync_all(team);
  gex_AD_Destroy(domain);
}

/* ---- jobranks (GX-047) ----------------------------------------------------------------------- */

/* The job's ranks, backwards. */
static gex_TM_t reversed(void) {
  gex_TM_t tm = GEX_TM_INVALID;
  const int key = (int)(nodes - me);
  const size_t bytes =
      gex_TM_Split(&tm, team, 0, key, NULL, 0, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
  (void)gex_TM_Split(&tm, team, 0, key, scratch(), bytes, 0);
  EXPECT_EQ(gex_TM_QueryRank(tm), nodes - 1 - me);
  return tm;
}
CASE(atomics_by_jobrank, "GX-047") {
  const gex_TM_t tm = reversed();
  gex_AD_t domain;
  gex_AD_Create(&domain, tm, GEX_DT_I64, GEX_OP_SET | GEX_OP_GET | GEX_OP_FADD, 0);
  sync_all(tm);
  add_everywhere(tm, domain, 0);
  add_everywhere(tm, domain, GEX_FLAG_RANK_IS_JOBRANK);
  gex_AD_Destroy(domain);
  gex_TM_Destroy(tm, NULL, 0);
}

static size_t least_scratch(gex_TM_t parent, gex_EP_Location_t *members) {
  return gex_TM_Create(
      NULL, 1, parent, members, nodes, NULL, 0,
      GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED | GEX_FLAG_TM_LOCAL_SCRATCH | GEX_FLAG_RANK_IS_JOBRANK);
}
/* The same numbers are jobranks with the flag, and ranks of the parent without it. */
CASE(teams_of_jobranks, "GX-047 GX-050") {
  const gex_TM_t parent = reversed();
  gex_EP_Location_t members[kNodesMax];
  for (gex_Rank_t i = 0; i < nodes; ++i) members[i] = (gex_EP_Location_t){(i + 1) % nodes, 0};
  const size_t bytes = least_scratch(parent, members);
  for (int by_jobrank = 0; by_jobrank < 2; ++by_jobrank) {
    gex_TM_t made = GEX_TM_INVALID;
    gex_Addr_t mine = scratch() + (1 << 17);
    (void)gex_TM_Create(&made, 1, parent, members, nodes, &mine, bytes,
                        GEX_FLAG_TM_LOCAL_SCRATCH | (by_jobrank ? GEX_FLAG_RANK_IS_JOBRANK : 0));
    for (gex_Rank_t i = 0; i < nodes; ++i) {
      const gex_Rank_t named = (i + 1) % nodes;
      EXPECT_EQ(gex_TM_TranslateRankToJobrank(made, i), by_jobrank ? named : nodes - 1 - named);
    }
    sync_all(made);
    barrier(); /* so that it is quiescent everywhere */
    gex_TM_Destroy(made, NULL, GEX_FLAG_GLOBALLY_QUIESCED);
    barrier();
  }
  gex_TM_Destroy(parent, NULL, 0);
}

/* ---- scratch memory (GX-050) ----------------------------------------------------------------- */

/* With each flag a team of all in order, whose members reach each other. */
static void expect_a_team(gex_TM_t tm, int has_collectives) {
  EXPECT(gex_TM_QueryRank(tm) == me && gex_TM_QuerySize(tm) == nodes);
  const gex_Rank_t to = (me + 1) % nodes;
  EXPECT_EQ(gex_RMA_PutBlockingVal(tm, to, part(to), 321 + me, 4, 0), 0);
  EXPECT(gex_RMA_GetBlockingVal(team, to, part(to), 4, 0) == 321 + me);
  if (has_collectives) sync_all(tm);
}
CASE(scratch_of_each_kind, "GX-050") {
  gex_EP_Location_t members[kNodesMax];
  gex_Addr_t everybodys[kNodesMax];
  for (gex_Rank_t i = 0; i < nodes; ++i) {
    members[i] = (gex_EP_Location_t){i, 0};
    everybodys[i] = (unsigned char *)segments[i].addr + i * part_bytes() + kScratchAt;
  }
  const size_t bytes = least_scratch(team, members);
  const gex_Flags_t kinds[] = {GEX_FLAG_TM_GLOBAL_SCRATCH, GEX_FLAG_TM_LOCAL_SCRATCH,
                               GEX_FLAG_TM_NO_SCRATCH};
  for (int i = 0; i < 3; ++i) {
    gex_TM_t made = GEX_TM_INVALID;
    gex_Addr_t *const where = i == 0 ? everybodys : i == 1 ? &everybodys[me] : NULL;
    (void)gex_TM_Create(&made, 1, team, members, nodes, where, i == 2 ? 0 : bytes, kinds[i]);
    expect_a_team(made, i < 2);
    gex_TM_Destroy(made, NULL, 0);
    barrier();
  }
}
CASE(scratch_at_an_offset, "GX-050") {
  gex_EP_Location_t members[kNodesMax];
  gex_TM_t made = GEX_TM_INVALID;
  gex_Memvec_t given = {NULL, 0};
  for (gex_Rank_t i = 0; i < nodes; ++i) members[i] = (gex_EP_Location_t){i, 0};
  const size_t bytes = least_scratch(team, members),
               offset = kSegmentBytes - 4096 - (bytes + 4095) / 4096 * 4096;
  gex_Addr_t same = (gex_Addr_t)(uintptr_t)offset; /* symmetric, as offsets */
  (void)gex_TM_Create(&made, 1, team, members, nodes, &same, bytes,
                      GEX_FLAG_TM_SYMMETRIC_SCRATCH | GEX_FLAG_SCRATCH_SEG_OFFSET);
  expect_a_team(made, 1);
  EXPECT(gex_TM_Destroy(made, &given, GEX_FLAG_SCRATCH_SEG_OFFSET) != 0);
  EXPECT(given.gex_addr == same && given.gex_len == bytes);
}
