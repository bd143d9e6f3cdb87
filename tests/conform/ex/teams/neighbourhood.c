/* The processes that share memory, or a host (GASNet-EX 0.19, "System queries"). */
#include "../ex.h"

CASE(declarations, "GX-164") {
  void (*const near)(gex_RankInfo_t **, gex_Rank_t *, gex_Rank_t *) = gex_System_QueryNbrhdInfo;
  void (*const host)(gex_RankInfo_t **, gex_Rank_t *, gex_Rank_t *) = gex_System_QueryHostInfo;
  void (*const position)(gex_Rank_t *, gex_Rank_t *, gex_Rank_t *, gex_Rank_t *) =
      gex_System_QueryMyPosition;
  gex_RankInfo_t *info = NULL;
  const gex_Rank_t *rank = NULL;
  host(&info, NULL, NULL);
  rank = &info->gex_jobrank;
  EXPECT(near != NULL && position != NULL && *rank < nodes);
}

typedef void query_of(gex_RankInfo_t **, gex_Rank_t *, gex_Rank_t *);

/* The jobranks of a list, one bit each. */
static uint64_t check_list(query_of *query) {
  gex_RankInfo_t *info = NULL;
  gex_Rank_t count = 0, index = GEX_RANK_INVALID;
  uint64_t ranks = 0;
  query(&info, &count, &index);
  EXPECT(count >= 1 && count <= nodes && index < count);
  EXPECT_EQ(info[index].gex_jobrank, gex_System_QueryJobRank());
  for (gex_Rank_t i = 0; i < count; ++i) {
    EXPECT(info[i].gex_jobrank < nodes);
    if (i > 0) EXPECT(info[i - 1].gex_jobrank < info[i].gex_jobrank);
    ranks |= (uint64_t)1 << info[i].gex_jobrank;
  }
  return ranks;
}

CASE(lists_are_sorted_and_have_the_caller, "GX-165") {
  const uint64_t near = check_list(gex_System_QueryNbrhdInfo);
  const uint64_t host = check_list(gex_System_QueryHostInfo);
  EXPECT_EQ(near & ~host, 0);
  EXPECT_EQ(check_list(gex_System_QueryNbrhdInfo), near);
  EXPECT_EQ(check_list(gex_System_QueryHostInfo), host);
}

static void leave_out_some(query_of *query) {
  for (unsigned set = 0; set < 8; ++set) {
    gex_RankInfo_t *info = NULL, *whole_info = NULL;
    gex_Rank_t count = 99, index = 99, whole_count = 0, whole_index = 0;
    query(&whole_info, &whole_count, &whole_index);
    query(set & 1 ? &info : NULL, set & 2 ? &count : NULL, set & 4 ? &index : NULL);
    if (set & 1) EXPECT_EQ(info[whole_index].gex_jobrank, me);
    EXPECT_EQ(count, set & 2 ? whole_count : 99);
    EXPECT_EQ(index, set & 4 ? whole_index : 99);
  }
}
CASE(any_output_may_be_left_out, "GX-165 GX-166") {
  leave_out_some(gex_System_QueryNbrhdInfo);
  leave_out_some(gex_System_QueryHostInfo);
  for (unsigned set = 0; set < 16; ++set) {
    gex_Rank_t whole[4], some[4] = {99, 99, 99, 99};
    gex_System_QueryMyPosition(&whole[0], &whole[1], &whole[2], &whole[3]);
    gex_System_QueryMyPosition(set & 1 ? &some[0] : NULL, set & 2 ? &some[1] : NULL,
                               set & 4 ? &some[2] : NULL, set & 8 ? &some[3] : NULL);
    for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(some[i], set >> i & 1 ? whole[i] : 99);
  }
}

/* Neighbours have each other's attached segments in their address spaces. */
CASE(neighbours_share_memory, "GX-165") {
  const uint64_t near = check_list(gex_System_QueryNbrhdInfo);
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    void *here = NULL;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, rank, NULL, &here, NULL, 0));
    EXPECT_EQ(here != NULL, near >> rank & 1);
    if (here != NULL) (void)((volatile unsigned char *)here)[kSegmentBytes - 1]; /* readable */
  }
}

/* ---- What ranks say of each other ------------------------------------------------------------ */

struct place {
  gex_Rank_t near_sets, near_set, host_sets, host_set;
  uint64_t near, host;
};

static struct place own_place(void) {
  struct place place;
  gex_System_QueryMyPosition(&place.near_sets, &place.near_set, &place.host_sets, &place.host_set);
  place.near = check_list(gex_System_QueryNbrhdInfo);
  place.host = check_list(gex_System_QueryHostInfo);
  return place;
}

/* A set's number is below `count`, and two ranks have the same one when they name each other. */
static void check_sets(gex_Rank_t count, const gex_Rank_t *set, const uint64_t *list) {
  uint64_t seen = 0;
  gex_Rank_t sets = 0;
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    EXPECT(set[rank] < count);
    sets += (seen >> set[rank] & 1) == 0;
    seen |= (uint64_t)1 << set[rank];
    for (gex_Rank_t other = 0; other < nodes; ++other) {
      EXPECT_EQ(set[rank] == set[other], list[rank] >> other & 1);
      if (set[rank] == set[other]) EXPECT_EQ(list[rank], list[other]);
    }
  }
  EXPECT_EQ(sets, count);
}

static void check_places(void) {
  struct place place = own_place(), all[kNodesMax];
  gex_Rank_t near_set[kNodesMax], host_set[kNodesMax];
  uint64_t near[kNodesMax], host[kNodesMax];
  for (gex_Rank_t root = 0; root < nodes; ++root) {
    gex_Event_Wait(gex_Coll_BroadcastNB(team, root, &all[root], &place, sizeof place, 0));
    EXPECT_EQ(all[root].near_sets, place.near_sets);
    EXPECT_EQ(all[root].host_sets, place.host_sets);
    near_set[root] = all[root].near_set, near[root] = all[root].near;
    host_set[root] = all[root].host_set, host[root] = all[root].host;
  }
  EXPECT(place.host_sets <= place.near_sets);
  check_sets(place.near_sets, near_set, near);
  check_sets(place.host_sets, host_set, host);
}

CASE(positions_agree, "GX-166") {
  check_places();
  check_places(); /* constant */
}

/* Also where each process talks to those of its host as if they were elsewhere. */
JOB(alone_without_shared_memory, "GX-166 GX-167", kNetwork, 0, "") {
  const char *driver = getenv("GASNET_DRIVER");
  setenv("GASNET_SUPERNODE_MAXSIZE", "1", 1);
  if (driver != NULL && strcmp(driver, "shm") == 0) setenv("GASNET_DRIVER", "auto", 1);
  start_ex_job(0, 65536);
  EXPECT_EQ(check_list(gex_System_QueryNbrhdInfo), (uint64_t)1 << me);
  check_places();
}
