/* gasnet_coll.h: collectives over a team. First those of the GASNet-EX API (GX-140 to GX-148), then GASNet's earlier
 * prototypes, which some clients still call.
 *
 * All are called in the same order on all members of the team, by one thread of a member at a time; any number may be
 * in progress, over one or several teams. On synchronisation of the event this member's input may be changed and its
 * output be read; nothing is said of other members (GX-143). They go on whenever a client thread is inside the library.
 * Memory may lie anywhere; input and output do not overlap unless they are the same where that is allowed. A wrong call
 * is fatal, with a sentence. */
#ifndef _INCLUDED_GASNET_COLL_H
#define _INCLUDED_GASNET_COLL_H

#include "gasnetex.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- GASNet-EX: flags are 0 (GX-148) ------------------------------------------------------------------- */

/* `nbytes` from src of member `root` to dst of all; src is ignored elsewhere, and may be dst (GX-145). */
gex_Event_t gex_Coll_BroadcastNB(gex_TM_t tm, gex_Rank_t root, void *dst, const void *src, size_t nbytes, gex_Flags_t flags);

/* arg2_and_out[i] = arg1[i] (+) arg2_and_out[i]. Called by whatever thread is inside the library, with any count above 0;
 * may use what is legal in handlers, and not wait (GX-147). */
typedef void (*gex_Coll_ReduceFn_t)(const void *arg1, void *arg2_and_out, size_t count, const void *cdata);

/* Element by element over `dt_cnt` elements of `dt_sz` bytes, the size of their C type; both above 0. GEX_OP_ADD, MULT,
 * MIN, MAX, of integers AND, OR, XOR; GEX_OP_USER and, where the function does not commute, GEX_OP_USER_NC, which is
 * called in the order of ranks. user_op is NULL otherwise; GEX_DT_USER wants one. The result is the same on all members
 * and in each run (GX-146). dst may be src: on the root, or on all members or none; elsewhere ToOne ignores dst. */
gex_Event_t gex_Coll_ReduceToOneNB(gex_TM_t tm, gex_Rank_t root, void *dst, const void *src, gex_DT_t dt, size_t dt_sz, size_t dt_cnt,
                                   gex_OP_t op, gex_Coll_ReduceFn_t user_op, void *user_cdata, gex_Flags_t flags);
gex_Event_t gex_Coll_ReduceToAllNB(gex_TM_t tm, void *dst, const void *src, gex_DT_t dt, size_t dt_sz, size_t dt_cnt, gex_OP_t op,
                                   gex_Coll_ReduceFn_t user_op, void *user_cdata, gex_Flags_t flags);

/* ---- GASNet's prototypes: one image in a process, so images are ranks ------------------------------------- */

typedef gex_TM_t gasnet_team_handle_t;
typedef gex_Event_t gasnet_coll_handle_t;
typedef gex_Rank_t gasnet_image_t;
#define GASNET_COLL_INVALID_HANDLE GEX_EVENT_INVALID
gex_TM_t pinwire_team_all(void);
#define GASNET_TEAM_ALL (pinwire_team_all())

/* One of each three. ALLSYNC: as with a barrier before, or at the end; the others ask for less than is done. */
#define GASNET_COLL_IN_NOSYNC 0x1
#define GASNET_COLL_IN_MYSYNC 0x2
#define GASNET_COLL_IN_ALLSYNC 0x4
#define GASNET_COLL_OUT_NOSYNC 0x8
#define GASNET_COLL_OUT_MYSYNC 0x10
#define GASNET_COLL_OUT_ALLSYNC 0x20
#define GASNET_COLL_LOCAL 0x80 /* addresses are of this member's memory: always */
#define GASNET_COLL_DST_IN_SEGMENT 0x400
#define GASNET_COLL_SRC_IN_SEGMENT 0x800

/* Images are those of the job's processes: one each, whatever is asked for. Nothing to start. */
static inline void gasnet_coll_init(const gasnet_image_t images[], gasnet_image_t my_image, const void *fn_tbl, size_t fn_count,
                                    int init_flags) {
  (void)images, (void)my_image, (void)fn_tbl, (void)fn_count, (void)init_flags;
}

/* nbytes: of one member's contribution, or share. Root's arguments are looked at on the root only. */
gex_Event_t gasnet_coll_broadcast_nb(gex_TM_t team, void *dst, gasnet_image_t srcimage, const void *src, size_t nbytes, int flags);
gex_Event_t gasnet_coll_scatter_nb(gex_TM_t team, void *dst, gasnet_image_t srcimage, const void *src, size_t nbytes, int flags);
gex_Event_t gasnet_coll_gather_nb(gex_TM_t team, gasnet_image_t dstimage, void *dst, const void *src, size_t nbytes, int flags);
gex_Event_t gasnet_coll_gather_all_nb(gex_TM_t team, void *dst, const void *src, size_t nbytes, int flags);
gex_Event_t gasnet_coll_exchange_nb(gex_TM_t team, void *dst, const void *src, size_t nbytes, int flags);

static inline void gasnet_coll_broadcast(gex_TM_t team, void *dst, gasnet_image_t srcimage, const void *src, size_t nbytes, int flags) {
  gex_Event_Wait(gasnet_coll_broadcast_nb(team, dst, srcimage, src, nbytes, flags));
}
static inline void gasnet_coll_scatter(gex_TM_t team, void *dst, gasnet_image_t srcimage, const void *src, size_t nbytes, int flags) {
  gex_Event_Wait(gasnet_coll_scatter_nb(team, dst, srcimage, src, nbytes, flags));
}
static inline void gasnet_coll_gather(gex_TM_t team, gasnet_image_t dstimage, void *dst, const void *src, size_t nbytes, int flags) {
  gex_Event_Wait(gasnet_coll_gather_nb(team, dstimage, dst, src, nbytes, flags));
}
static inline void gasnet_coll_gather_all(gex_TM_t team, void *dst, const void *src, size_t nbytes, int flags) {
  gex_Event_Wait(gasnet_coll_gather_all_nb(team, dst, src, nbytes, flags));
}
static inline void gasnet_coll_exchange(gex_TM_t team, void *dst, const void *src, size_t nbytes, int flags) {
  gex_Event_Wait(gasnet_coll_exchange_nb(team, dst, src, nbytes, flags));
}

/* As those of events. */
static inline int gasnet_coll_try_sync(gasnet_coll_handle_t handle) {
  (void)gasnet_AMPoll();
  return gex_Event_Test(handle);
}
static inline int gasnet_coll_try_sync_some(gasnet_coll_handle_t *phandle, size_t count) {
  (void)gasnet_AMPoll();
  return gex_Event_TestSome(phandle, count, 0);
}
static inline int gasnet_coll_try_sync_all(gasnet_coll_handle_t *phandle, size_t count) {
  (void)gasnet_AMPoll();
  return gex_Event_TestAll(phandle, count, 0);
}
static inline void gasnet_coll_wait_sync(gasnet_coll_handle_t handle) { gex_Event_Wait(handle); }
static inline void gasnet_coll_wait_sync_some(gasnet_coll_handle_t *phandle, size_t count) { gex_Event_WaitSome(phandle, count, 0); }
static inline void gasnet_coll_wait_sync_all(gasnet_coll_handle_t *phandle, size_t count) { gex_Event_WaitAll(phandle, count, 0); }

/* As gasnet_barrier_notify, _wait, _try, gasnet_barrier, over any team. */
void gasnet_coll_barrier_notify(gex_TM_t team, int id, int flags);
int gasnet_coll_barrier_wait(gex_TM_t team, int id, int flags);
int gasnet_coll_barrier_try(gex_TM_t team, int id, int flags);
static inline int gasnet_coll_barrier(gex_TM_t team, int id, int flags) {
  gasnet_coll_barrier_notify(team, id, flags);
  return gasnet_coll_barrier_wait(team, id, flags);
}

/* There is nothing that is tuned at run time, and so nothing to write or read. */
static inline void gasnet_coll_loadTuningState(const char *filename, gasnet_team_handle_t team) { (void)filename, (void)team; }
static inline void gasnet_coll_dumpTuningState(const char *filename, gasnet_team_handle_t team) { (void)filename, (void)team; }
static inline void gasnet_coll_dumpProfile(const char *filename, gasnet_team_handle_t team) { (void)filename, (void)team; }

#ifdef __cplusplus
}
#endif

#endif
