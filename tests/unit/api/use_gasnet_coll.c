/* Uses every name of teams and of gasnet_coll.h: compiled by each compiler in each standard and mode, never run. */
#include "gasnet_coll.h"

void use_teams(gex_TM_t tm, void *memory);
void use_collectives(gex_TM_t tm, void *memory);
void use_prototypes(void *memory);

static void combine(const void *arg1, void *arg2_and_out, size_t count, const void *cdata) {
  (void)arg1, (void)arg2_and_out, (void)count, (void)cdata;
}

void use_teams(gex_TM_t tm, void *memory) {
  gex_TM_t made[2];
  gex_EP_Location_t args[2];
  gex_Addr_t scratch[2];
  gex_Memvec_t back;
  size_t bytes = gex_TM_Split(&made[0], tm, 1, 2, memory, 64, GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED | GEX_FLAG_TM_SCRATCH_SIZE_MIN);
  args[0] = args[1] = gex_TM_TranslateRankToEP(tm, gex_TM_TranslateJobrankToRank(tm, gex_TM_TranslateRankToJobrank(tm, 0)), 0);
  scratch[0] = scratch[1] = memory;
  bytes += gex_TM_Dup(&made[0], tm, memory, bytes, GEX_FLAG_TM_SYMMETRIC_SCRATCH | GEX_FLAG_SCRATCH_SEG_OFFSET);
  bytes += gex_TM_Create(made, 2, tm, args, 2, scratch, bytes,
                         GEX_FLAG_TM_GLOBAL_SCRATCH | GEX_FLAG_TM_LOCAL_SCRATCH | GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_RANK_IS_JOBRANK);
  if (gex_TM_Destroy(made[0], &back, GEX_FLAG_GLOBALLY_QUIESCED)) gasnet_exit((int)bytes);
  gex_TM_SetCData(made[1], gex_TM_QueryCData(tm));
  if (gex_TM_QueryClient(tm) == GEX_CLIENT_INVALID || gex_TM_QueryEP(tm) == GEX_EP_INVALID) gasnet_exit((int)gex_TM_QueryFlags(tm));
}

void use_collectives(gex_TM_t tm, void *memory) {
  gex_Event_t events[4];
  gex_Coll_ReduceFn_t function = combine;
  const gex_Rank_t root = gex_TM_QuerySize(tm) - 1;
  events[0] = gex_Coll_BarrierNB(tm, 0);
  events[1] = gex_Coll_BroadcastNB(tm, root, memory, memory, 8, 0);
  events[2] = gex_Coll_ReduceToOneNB(tm, root, memory, memory, GEX_DT_USER, 12, 3, GEX_OP_USER, function, memory, 0);
  events[3] = gex_Coll_ReduceToAllNB(tm, memory, memory, GEX_DT_FLT, sizeof(float), 3, GEX_OP_MIN, NULL, NULL, 0);
  gex_Event_WaitAll(events, 4, 0);
  gex_Coll_BarrierBlocking(tm, 0);
}

void use_prototypes(void *memory) {
  const int flags = GASNET_COLL_LOCAL | GASNET_COLL_IN_NOSYNC | GASNET_COLL_OUT_NOSYNC | GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC |
                    GASNET_COLL_IN_ALLSYNC | GASNET_COLL_OUT_ALLSYNC | GASNET_COLL_DST_IN_SEGMENT | GASNET_COLL_SRC_IN_SEGMENT;
  const gasnet_image_t root = 0;
  const gasnet_team_handle_t team = GASNET_TEAM_ALL;
  gasnet_coll_handle_t handles[5];
  gasnet_coll_init(NULL, root, NULL, 0, 0);
  handles[0] = gasnet_coll_broadcast_nb(team, memory, root, memory, 8, flags);
  handles[1] = gasnet_coll_scatter_nb(team, memory, root, memory, 8, flags);
  handles[2] = gasnet_coll_gather_nb(team, root, memory, memory, 8, flags);
  handles[3] = gasnet_coll_gather_all_nb(team, memory, memory, 8, flags);
  handles[4] = gasnet_coll_exchange_nb(team, memory, memory, 8, flags);
  if (gasnet_coll_try_sync(handles[0]) == GASNET_OK) handles[0] = GASNET_COLL_INVALID_HANDLE;
  (void)gasnet_coll_try_sync_some(handles, 5);
  (void)gasnet_coll_try_sync_all(handles, 5);
  gasnet_coll_wait_sync_some(handles, 5);
  gasnet_coll_wait_sync_all(handles, 5);
  gasnet_coll_wait_sync(handles[0]);
  gasnet_coll_broadcast(team, memory, root, memory, 8, flags);
  gasnet_coll_scatter(team, memory, root, memory, 8, flags);
  gasnet_coll_gather(team, root, memory, memory, 8, flags);
  gasnet_coll_gather_all(team, memory, memory, 8, flags);
  gasnet_coll_exchange(team, memory, memory, 8, flags);
  gasnet_coll_barrier_notify(team, 1, GASNET_BARRIERFLAG_UNNAMED);
  if (gasnet_coll_barrier_try(team, 1, 0) == GASNET_ERR_NOT_READY) (void)gasnet_coll_barrier_wait(team, 1, 0);
  (void)gasnet_coll_barrier(team, 0, GASNET_BARRIERFLAG_ANONYMOUS);
  gasnet_coll_loadTuningState(NULL, team);
  gasnet_coll_dumpTuningState(NULL, team);
  gasnet_coll_dumpProfile(NULL, team);
}
