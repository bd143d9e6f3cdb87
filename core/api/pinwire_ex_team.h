/* pinwire_ex_team.h: teams of the GASNet-EX API, and the barrier (GX-068 to GX-073, EX-037 to EX-042, EX-087 to EX-125).
 * Included by gasnetex.h only; the other collectives are in gasnet_coll.h. */
#ifndef PINWIRE_EX_TEAM_H
#define PINWIRE_EX_TEAM_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What a team is: legal anywhere ------------------------------------------------------------------------ */

gex_Client_t gex_TM_QueryClient(gex_TM_t tm);
gex_EP_t gex_TM_QueryEP(gex_TM_t tm);
gex_Flags_t gex_TM_QueryFlags(gex_TM_t tm); /* that it was made with */
gex_Rank_t gex_TM_QueryRank(gex_TM_t tm);
gex_Rank_t gex_TM_QuerySize(gex_TM_t tm);

/* The ranks must exist. */
gex_Rank_t gex_TM_TranslateRankToJobrank(gex_TM_t tm, gex_Rank_t rank);
/* The lowest rank of a member in that process; GEX_RANK_INVALID: there is none. */
gex_Rank_t gex_TM_TranslateJobrankToRank(gex_TM_t tm, gex_Rank_t jobrank);
/* Where a member is, by jobrank. */
gex_EP_Location_t gex_TM_TranslateRankToEP(gex_TM_t tm, gex_Rank_t rank, gex_Flags_t flags);

/* ---- Making teams: collective over the parent, blocking; messages are served meanwhile --------------------- */

/* Collectives need no scratch memory here: what is given is kept untouched, and given back by gex_TM_Destroy.
 * GEX_FLAG_TM_NO_SCRATCH says that there is none; GEX_FLAG_SCRATCH_SEG_OFFSET that addresses are offsets in the bound
 * segment. With GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED or _MIN no team is made: a caller that would be in one gets a
 * size that is enough, the same for all, others 0. Otherwise all return 0. A new team may be used at once. */

/* Callers of the same colour, not negative, form a team: by key, then by parent rank. NULL for new_tm_p: takes part,
 * but is in no team. */
size_t gex_TM_Split(gex_TM_t *new_tm_p, gex_TM_t parent_tm, int color, int key, void *scratch_addr, size_t scratch_size, gex_Flags_t flags);

/* The same members again, with collectives of its own. One of GEX_FLAG_TM_{SYMMETRIC,LOCAL,NO}_SCRATCH. */
size_t gex_TM_Dup(gex_TM_t *new_tm_p, gex_TM_t orig_tm, gex_Addr_t scratch_addr, size_t scratch_len, gex_Flags_t flags);

/* A team of args[], by rank, which all callers in it pass alike; callers may pass different ones, that share no
 * endpoint, and 0 for numargs if they are in none. gex_rank is a rank of the parent, or with GEX_FLAG_RANK_IS_JOBRANK
 * one of the job; the parent has a member in each process that is named. new_tms gets one handle for each member in
 * this process, by rank; num_new_tms says how many. In a process one caller names a team. One of GEX_FLAG_TM_{SYMMETRIC,
 * LOCAL,GLOBAL,NO}_SCRATCH: 1, num_new_tms, numargs or no scratch_addrs. */
size_t gex_TM_Create(gex_TM_t *new_tms, size_t num_new_tms, gex_TM_t parent_tm, gex_EP_Location_t *args, size_t numargs,
                     gex_Addr_t *scratch_addrs, size_t scratch_size, gex_Flags_t flags);

/* Collective over the team, whose collectives have been synchronised here; puts, gets and messages go on. Not of
 * gex_Client_Init's. If the client gave scratch memory and scratch_p is not NULL it is written there, as an offset
 * with GEX_FLAG_SCRATCH_SEG_OFFSET, and the result is not 0. GEX_FLAG_GLOBALLY_QUIESCED makes no difference. */
int gex_TM_Destroy(gex_TM_t tm, gex_Memvec_t *scratch_p, gex_Flags_t flags);

/* ---- The barrier (GX-144) ------------------------------------------------------------------------------------- */

/* Collective over the team, in the same order as other collectives on all of its members, by one thread of a member at
 * a time; any number may be in progress (GX-141). Complete only after all members have called it. The work that this
 * thread did before is seen by each thread that has synchronised the event. flags: 0. Over the team of gex_Client_Init
 * not between a gasnet_barrier_notify and its wait (GX-142). */
gex_Event_t gex_Coll_BarrierNB(gex_TM_t tm, gex_Flags_t flags);
/* The same, and waits. */
void gex_Coll_BarrierBlocking(gex_TM_t tm, gex_Flags_t flags);

#ifdef __cplusplus
}
#endif

#endif
