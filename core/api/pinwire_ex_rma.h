/* pinwire_ex_rma.h: puts, gets and events of the GASNet-EX API (GX-030 to GX-040, GX-123 to GX-130). Included by
 * gasnetex.h only. Memory that this process has mapped is reached by a copy here, as in pinwire_rma.h. */
#ifndef PINWIRE_EX_RMA_H
#define PINWIRE_EX_RMA_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Events (GX-031 to GX-040) ------------------------------------------------------------------------ */

/* test: 0 if complete, else GASNET_ERR_NOT_READY; never polls. wait: polls. Both end a complete event's life, in
 * whatever thread; a root's ends those of its leaves. The arrays' complete entries become GEX_EVENT_INVALID, which is
 * passed over. flags: 0. */
int pinwire_ex_test(gex_Event_t event);
static inline int gex_Event_Test(gex_Event_t event) { return event == GEX_EVENT_INVALID ? GASNET_OK : pinwire_ex_test(event); }
static inline void gex_Event_Wait(gex_Event_t event) { gasnet_wait_syncnb(event); }
int gex_Event_TestSome(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags);
int gex_Event_TestAll(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags);
void gex_Event_WaitSome(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags);
void gex_Event_WaitAll(gex_Event_t *pevent, size_t numevents, gex_Flags_t flags);
/* A leaf of a root that has not been synchronised; one category. */
gex_Event_t gex_Event_QueryLeaf(gex_Event_t root, gex_EC_t event_category);

/* The calling thread's implicit operations of these categories. */
int gex_NBI_Test(gex_EC_t event_mask, gex_Flags_t flags);
void gex_NBI_Wait(gex_EC_t event_mask, gex_Flags_t flags);
static inline void gex_NBI_BeginAccessRegion(gex_Flags_t flags) {
  (void)flags;
  gasnet_begin_nbi_accessregion();
}
static inline gex_Event_t gex_NBI_EndAccessRegion(gex_Flags_t flags) {
  (void)flags;
  return gasnet_end_nbi_accessregion();
}

/* ---- Puts and gets (GX-123 to GX-130) ------------------------------------------------------------------ */

/* An endpoint of the job: the jobrank of its process, and its index there from bit 16 on. */
#define PINWIRE_TARGET(jobrank, index) ((jobrank) | (uint32_t)(index) << 16)
/* First of every team: its members, or NULL where that is their ranks. */
struct pinwire_members {
  const uint32_t *targets;
};
/* A TM-pair (EX-126 to EX-133) is odd: the address of the local endpoint, and the remote index on top. */
#define PINWIRE_PAIR_SHIFT 48
static inline gasnet_node_t pinwire_target(gex_TM_t tm, gex_Rank_t rank) {
  const uintptr_t word = (uintptr_t)tm;
  const uint32_t *targets;
  if (word & 1) return PINWIRE_TARGET(rank, word >> PINWIRE_PAIR_SHIFT);
  targets = ((const struct pinwire_members *)word)->targets;
  return targets ? targets[rank] : rank;
}

gex_Event_t pinwire_ex_put_nb(gasnet_node_t target, void *dest, const void *src, size_t nbytes, gex_Event_t *lc_opt, gex_Flags_t flags);
int pinwire_ex_put_nbi(gasnet_node_t target, void *dest, const void *src, size_t nbytes, gex_Event_t *lc_opt, gex_Flags_t flags);
gex_Event_t pinwire_ex_get_nb(void *dest, gasnet_node_t target, const void *src, size_t nbytes, gex_Flags_t flags);
int pinwire_ex_get_nbi(void *dest, gasnet_node_t target, const void *src, size_t nbytes, gex_Flags_t flags);
/* Completed work is locally complete. */
static inline void pinwire_ex_put_is_done(gex_Event_t *lc_opt) {
  if (lc_opt != GEX_EVENT_NOW && lc_opt != GEX_EVENT_DEFER && lc_opt != GEX_EVENT_GROUP) *lc_opt = GEX_EVENT_INVALID;
}

/* The remote range lies in the segment of the rank's endpoint; any alignment, any number of bytes. NB forms return an
 * event, GEX_EVENT_INVALID if all is done; the others 0. lc_opt: GEX_EVENT_NOW, GEX_EVENT_DEFER, of NBI
 * GEX_EVENT_GROUP, of NB the address of an event. With GEX_FLAG_IMMEDIATE, when there is no room at once, they do
 * nothing and return GEX_EVENT_NO_OP, or non-zero; poll before the next try. A wrong call is fatal, with a sentence. */
static inline gex_Event_t gex_RMA_PutNB(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes, gex_Event_t *lc_opt,
                                        gex_Flags_t flags) {
  const gasnet_node_t target = pinwire_target(tm, rank);
  void *to = pinwire_direct(target, dest, src, nbytes);
  if (!to) return pinwire_ex_put_nb(target, dest, src, nbytes, lc_opt, flags);
  pinwire_put_direct(to, src, nbytes);
  pinwire_ex_put_is_done(lc_opt);
  return GEX_EVENT_INVALID;
}
static inline gex_Event_t gex_RMA_GetNB(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes, gex_Flags_t flags) {
  const gasnet_node_t target = pinwire_target(tm, rank);
  const void *from = pinwire_direct(target, src, dest, nbytes);
  if (!from) return pinwire_ex_get_nb(dest, target, src, nbytes, flags);
  pinwire_get_direct(dest, from, nbytes);
  return GEX_EVENT_INVALID;
}
static inline int gex_RMA_PutNBI(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes, gex_Event_t *lc_opt,
                                 gex_Flags_t flags) {
  const gasnet_node_t target = pinwire_target(tm, rank);
  void *to = pinwire_direct(target, dest, src, nbytes);
  if (!to) return pinwire_ex_put_nbi(target, dest, src, nbytes, lc_opt, flags);
  pinwire_put_direct(to, src, nbytes);
  return 0;
}
static inline int gex_RMA_GetNBI(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes, gex_Flags_t flags) {
  const gasnet_node_t target = pinwire_target(tm, rank);
  const void *from = pinwire_direct(target, src, dest, nbytes);
  if (!from) return pinwire_ex_get_nbi(dest, target, src, nbytes, flags);
  pinwire_get_direct(dest, from, nbytes);
  return 0;
}
/* Completes the work that was started at once. */
static inline int pinwire_ex_started(gex_Event_t event) {
  if (event == GEX_EVENT_NO_OP) return 1;
  gex_Event_Wait(event);
  return 0;
}
static inline int gex_RMA_PutBlocking(gex_TM_t tm, gex_Rank_t rank, void *dest, const void *src, size_t nbytes, gex_Flags_t flags) {
  if (flags & GEX_FLAG_IMMEDIATE) return pinwire_ex_started(gex_RMA_PutNB(tm, rank, dest, src, nbytes, GEX_EVENT_DEFER, flags));
  gasnet_put(pinwire_target(tm, rank), dest, (void *)(uintptr_t)src, nbytes);
  return 0;
}
static inline int gex_RMA_GetBlocking(gex_TM_t tm, void *dest, gex_Rank_t rank, void *src, size_t nbytes, gex_Flags_t flags) {
  if (flags & GEX_FLAG_IMMEDIATE) return pinwire_ex_started(gex_RMA_GetNB(tm, dest, rank, src, nbytes, flags));
  gasnet_get(dest, pinwire_target(tm, rank), src, nbytes);
  return 0;
}

/* Values of 1 to 8 bytes; a get is zero-extended. GetBlockingVal never returns without its value (GX-130). */
static inline gex_RMA_Value_t gex_RMA_GetBlockingVal(gex_TM_t tm, gex_Rank_t rank, void *src, size_t nbytes, gex_Flags_t flags) {
  (void)flags;
  return gasnet_get_val(pinwire_target(tm, rank), src, nbytes);
}
static inline int gex_RMA_PutBlockingVal(gex_TM_t tm, gex_Rank_t rank, void *dest, gex_RMA_Value_t value, size_t nbytes, gex_Flags_t flags) {
  return gex_RMA_PutBlocking(tm, rank, dest, pinwire_low_bytes(&value, nbytes), nbytes, flags);
}
static inline int gex_RMA_PutNBIVal(gex_TM_t tm, gex_Rank_t rank, void *dest, gex_RMA_Value_t value, size_t nbytes, gex_Flags_t flags) {
  return gex_RMA_PutNBI(tm, rank, dest, pinwire_low_bytes(&value, nbytes), nbytes, GEX_EVENT_NOW, flags);
}
static inline gex_Event_t gex_RMA_PutNBVal(gex_TM_t tm, gex_Rank_t rank, void *dest, gex_RMA_Value_t value, size_t nbytes,
                                           gex_Flags_t flags) {
  return gex_RMA_PutNB(tm, rank, dest, pinwire_low_bytes(&value, nbytes), nbytes, GEX_EVENT_NOW, flags);
}

#ifdef __cplusplus
}
#endif

#endif
