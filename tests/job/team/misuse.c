/* Breaks one rule of teams or collectives, named by its argument, on two ranks. All builds end with a sentence. */
#include <gasnetex.h>
#include <gasnet_coll.h>
#include <stdio.h>
#include <string.h>

static const char *breach;
static int is(const char *name) { return strcmp(breach, name) == 0; }

static void break_team(gex_TM_t team, gex_Rank_t me) {
  gex_TM_t tm, two[2];
  gex_EP_Location_t args[2] = {{0, 0}, {1, 0}};
  const gex_Flags_t none = GEX_FLAG_TM_NO_SCRATCH;
  if (is("color")) gex_TM_Split(&tm, team, -1, 0, NULL, 0, none);
  if (is("split_flags")) gex_TM_Split(&tm, team, 0, 0, NULL, 0, none | GEX_FLAG_TM_LOCAL_SCRATCH);
  if (is("split_unlike")) gex_TM_Split(&tm, team, 0, 0, &tm, 64, me == 0 ? 0 : none);
  if (is("dup_kind")) gex_TM_Dup(&tm, team, NULL, 0, 0);
  if (is("create_kinds")) gex_TM_Create(&tm, 1, team, args, 2, NULL, 0, none | GEX_FLAG_TM_LOCAL_SCRATCH);
  if (is("create_count")) gex_TM_Create(two, 2, team, args, 2, NULL, 0, none);
  if (is("create_rank")) args[1].gex_rank = 2, gex_TM_Create(&tm, 1, team, args, 2, NULL, 0, none);
  if (is("create_endpoint")) args[me].gex_ep_index = 1, gex_TM_Create(&tm, 1, team, args, 2, NULL, 0, none);
  if (is("create_twice")) args[1] = args[0], gex_TM_Create(&tm, 1, team, args, 2, NULL, 0, none);
  if (is("create_alone")) gex_TM_Create(&tm, 1, team, args, me == 0 ? 2 : 0, NULL, 0, none);
  if (is("create_unlike")) {
    const gex_EP_Location_t swapped[2] = {{1, 0}, {0, 0}};
    if (me == 1) memcpy(args, swapped, sizeof args);
    gex_TM_Create(&tm, 1, team, args, 2, NULL, 0, none);
  }
  if (is("destroy_first")) gex_TM_Destroy(team, NULL, 0);
  if (is("destroy_busy")) {
    gex_TM_Split(&tm, team, 0, 0, NULL, 0, none);
    if (me == 0) gex_Coll_BarrierNB(tm, 0), gex_TM_Destroy(tm, NULL, 0);
  }
  if (is("destroy_notified")) {
    gex_TM_Split(&tm, team, 0, 0, NULL, 0, none);
    gasnet_coll_barrier_notify(tm, 0, 0);
    gex_TM_Destroy(tm, NULL, 0);
  }
  if (is("translate")) gex_TM_TranslateRankToJobrank(team, 2);
}

static void break_collective(gex_TM_t team, gex_EP_t ep, gex_Rank_t me) {
  double numbers[2] = {1, 2}, result[2];
  const gex_TM_t pair = gex_TM_Pair(ep, 0);
  if (is("pair")) gex_Coll_BarrierNB(pair, 0);
  if (is("pair_split")) gex_TM_Split(NULL, pair, 0, 0, NULL, 0, 0);
  if (is("no_team")) gex_Coll_BarrierNB(GEX_TM_INVALID, 0);
  if (is("flags")) gex_Coll_BarrierNB(team, GEX_FLAG_IMMEDIATE);
  if (is("root")) gex_Coll_BroadcastNB(team, 2, result, numbers, 8, 0);
  if (is("lengths")) gex_Event_Wait(gex_Coll_BroadcastNB(team, 0, result, numbers, 8 + 8 * me, 0));
  if (is("size")) gex_Coll_ReduceToAllNB(team, result, numbers, GEX_DT_DBL, 4, 2, GEX_OP_ADD, NULL, NULL, 0);
  if (is("count")) gex_Coll_ReduceToOneNB(team, 0, result, numbers, GEX_DT_DBL, 8, 0, GEX_OP_ADD, NULL, NULL, 0);
  if (is("operation")) gex_Coll_ReduceToAllNB(team, result, numbers, GEX_DT_DBL, 8, 2, GEX_OP_XOR, NULL, NULL, 0);
  if (is("user_type")) gex_Coll_ReduceToAllNB(team, result, numbers, GEX_DT_USER, 8, 2, GEX_OP_ADD, NULL, NULL, 0);
  if (is("user_function")) gex_Coll_ReduceToAllNB(team, result, numbers, GEX_DT_USER, 8, 2, GEX_OP_USER, NULL, NULL, 0);
  if (is("syncs")) gasnet_coll_exchange_nb(team, result, numbers, 8, GASNET_COLL_IN_MYSYNC);
  if (is("wait_first")) {
    gex_TM_t tm;
    gex_TM_Split(&tm, team, 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    gasnet_coll_barrier_wait(tm, 0, 0);
  }
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t ep;
  gex_TM_t team;
  breach = argc > 1 ? argv[1] : "";
  if (gex_Client_Init(&client, &ep, &team, "MISUSE", &argc, &argv, 0) != GASNET_OK) return 1;
  const gex_Rank_t me = gex_TM_QueryRank(team);
  break_team(team, me);
  break_collective(team, ep, me);
  gex_Coll_BarrierBlocking(team, 0);
  fprintf(stderr, "nothing was wrong with %s\n", breach);
  gasnet_exit(0);
  return 0;
}
