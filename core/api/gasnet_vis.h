/* gasnet_vis.h: puts and gets of many pieces: vectors of regions, indexed regions of one size, strided boxes
 * (GX-131 to GX-139; the calls of GASNet-1: VIS-001 to VIS-034).
 *
 * Data runs from the pieces of the source, in order, into those of the destination, in order: both hold as many
 * bytes, and are cut where they like. Pieces at the other end lie in the segment of that endpoint, those at this end
 * anywhere; any alignment. No destination overlaps another or a source. Lists and what they name stay as they are
 * until the operation is complete; strides and counts until the call returns. Nothing at all is a no-op, for which
 * all else may be anything. Client threads only. */
#ifndef _INCLUDED_GASNET_VIS_H
#define _INCLUDED_GASNET_VIS_H

#include "gasnetex.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a call ends: complete, with an event, with the implicit operations. */
#define PINWIRE_VIS_BLOCKING 0
#define PINWIRE_VIS_NB 1
#define PINWIRE_VIS_NBI 2

gex_Event_t pinwire_vis_put_vector(gasnet_node_t target, int how, size_t dstcount, gex_Memvec_t const dstlist[], size_t srccount, gex_Memvec_t const srclist[]);
gex_Event_t pinwire_vis_get_vector(gasnet_node_t target, int how, size_t dstcount, gex_Memvec_t const dstlist[], size_t srccount, gex_Memvec_t const srclist[]);
gex_Event_t pinwire_vis_put_indexed(gasnet_node_t target, int how, size_t dstcount, void *const dstlist[], size_t dstlen, size_t srccount, void *const srclist[], size_t srclen);
gex_Event_t pinwire_vis_get_indexed(gasnet_node_t target, int how, size_t dstcount, void *const dstlist[], size_t dstlen, size_t srccount, void *const srclist[], size_t srclen);
gex_Event_t pinwire_vis_put_strided(gasnet_node_t target, int how, void *dstaddr, const ptrdiff_t dststrides[], void *srcaddr,
                                    const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[], size_t stridelevels);
gex_Event_t pinwire_vis_get_strided(gasnet_node_t target, int how, void *dstaddr, const ptrdiff_t dststrides[], void *srcaddr,
                                    const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[], size_t stridelevels);

/* If nothing is to be transferred, all else is ignored (GX-137): the team and the rank, too, unless this thread's next
 * put tells its peer. */
int pinwire_vis_tells_peer(void);
static inline int pinwire_vis_is_nothing(size_t elemsz, const size_t count[], size_t stridelevels) {
  int is_nothing = elemsz == 0;
  for (size_t level = 0; !is_nothing && level < stridelevels; ++level) is_nothing = count[level] == 0;
  return is_nothing;
}
static inline gasnet_node_t pinwire_vis_target(gex_TM_t tm, gex_Rank_t rank, int is_nothing) {
  return is_nothing && !pinwire_vis_tells_peer() ? 0 : pinwire_target(tm, rank);
}

/* NB forms return an event, GEX_EVENT_INVALID if all is done; the others 0. GEX_FLAG_ENABLE_LEAF_LC (puts): the event has
 * a leaf GEX_EC_LC; of NBI, GEX_EC_LC covers it. GEX_FLAG_IMMEDIATE is allowed: they may wait all the same. Strides are
 * bytes, signed, in any order; the first level runs fastest. */
static inline gex_Event_t gex_VIS_VectorPutNB(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, gex_Memvec_t const dstlist[], size_t srccount, gex_Memvec_t const srclist[], gex_Flags_t flags) {
  (void)flags;
  return pinwire_vis_put_vector(pinwire_vis_target(tm, dstrank, dstcount == 0 && srccount == 0), PINWIRE_VIS_NB, dstcount, dstlist, srccount, srclist);
}
static inline int gex_VIS_VectorPutNBI(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, gex_Memvec_t const dstlist[], size_t srccount, gex_Memvec_t const srclist[], gex_Flags_t flags) {
  (void)flags;
  (void)pinwire_vis_put_vector(pinwire_vis_target(tm, dstrank, dstcount == 0 && srccount == 0), PINWIRE_VIS_NBI, dstcount, dstlist, srccount, srclist);
  return 0;
}
static inline int gex_VIS_VectorPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, gex_Memvec_t const dstlist[], size_t srccount, gex_Memvec_t const srclist[], gex_Flags_t flags) {
  (void)flags;
  (void)pinwire_vis_put_vector(pinwire_vis_target(tm, dstrank, dstcount == 0 && srccount == 0), PINWIRE_VIS_BLOCKING, dstcount, dstlist, srccount, srclist);
  return 0;
}
static inline gex_Event_t gex_VIS_VectorGetNB(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[], gex_Rank_t srcrank, size_t srccount, gex_Memvec_t const srclist[], gex_Flags_t flags) {
  (void)flags;
  return pinwire_vis_get_vector(pinwire_vis_target(tm, srcrank, dstcount == 0 && srccount == 0), PINWIRE_VIS_NB, dstcount, dstlist, srccount, srclist);
}
static inline int gex_VIS_VectorGetNBI(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[], gex_Rank_t srcrank, size_t srccount, gex_Memvec_t const srclist[], gex_Flags_t flags) {
  (void)flags;
  (void)pinwire_vis_get_vector(pinwire_vis_target(tm, srcrank, dstcount == 0 && srccount == 0), PINWIRE_VIS_NBI, dstcount, dstlist, srccount, srclist);
  return 0;
}
static inline int gex_VIS_VectorGetBlocking(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[], gex_Rank_t srcrank, size_t srccount, gex_Memvec_t const srclist[], gex_Flags_t flags) {
  (void)flags;
  (void)pinwire_vis_get_vector(pinwire_vis_target(tm, srcrank, dstcount == 0 && srccount == 0), PINWIRE_VIS_BLOCKING, dstcount, dstlist, srccount, srclist);
  return 0;
}
static inline gex_Event_t gex_VIS_IndexedPutNB(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, void *const dstlist[], size_t dstlen, size_t srccount, void *const srclist[], size_t srclen, gex_Flags_t flags) {
  (void)flags;
  return pinwire_vis_put_indexed(pinwire_vis_target(tm, dstrank, dstcount == 0 && srccount == 0), PINWIRE_VIS_NB, dstcount, dstlist, dstlen, srccount, srclist, srclen);
}
static inline int gex_VIS_IndexedPutNBI(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, void *const dstlist[], size_t dstlen, size_t srccount, void *const srclist[], size_t srclen, gex_Flags_t flags) {
  (void)flags;
  (void)pinwire_vis_put_indexed(pinwire_vis_target(tm, dstrank, dstcount == 0 && srccount == 0), PINWIRE_VIS_NBI, dstcount, dstlist, dstlen, srccount, srclist, srclen);
  return 0;
}
static inline int gex_VIS_IndexedPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, void *const dstlist[], size_t dstlen, size_t srccount, void *const srclist[], size_t srclen, gex_Flags_t flags) {
  (void)flags;
  (void)pinwire_vis_put_indexed(pinwire_vis_target(tm, dstrank, dstcount == 0 && srccount == 0), PINWIRE_VIS_BLOCKING, dstcount, dstlist, dstlen, srccount, srclist, srclen);
  return 0;
}
static inline gex_Event_t gex_VIS_IndexedGetNB(gex_TM_t tm, size_t dstcount, void *const dstlist[], size_t dstlen, gex_Rank_t srcrank, size_t srccount, void *const srclist[], size_t srclen, gex_Flags_t flags) {
  (void)flags;
  return pinwire_vis_get_indexed(pinwire_vis_target(tm, srcrank, dstcount == 0 && srccount == 0), PINWIRE_VIS_NB, dstcount, dstlist, dstlen, srccount, srclist, srclen);
}
static inline int gex_VIS_IndexedGetNBI(gex_TM_t tm, size_t dstcount, void *const dstlist[], size_t dstlen, gex_Rank_t srcrank, size_t srccount, void *const srclist[], size_t srclen, gex_Flags_t flags) {
  (void)flags;
  (void)pinwire_vis_get_indexed(pinwire_vis_target(tm, srcrank, dstcount == 0 && srccount == 0), PINWIRE_VIS_NBI, dstcount, dstlist, dstlen, srccount, srclist, srclen);
  return 0;
}
static inline int gex_VIS_IndexedGetBlocking(gex_TM_t tm, size_t dstcount, void *const dstlist[], size_t dstlen, gex_Rank_t srcrank, size_t srccount, void *const srclist[], size_t srclen, gex_Flags_t flags) {
  (void)flags;
  (void)pinwire_vis_get_indexed(pinwire_vis_target(tm, srcrank, dstcount == 0 && srccount == 0), PINWIRE_VIS_BLOCKING, dstcount, dstlist, dstlen, srccount, srclist, srclen);
  return 0;
}
static inline gex_Event_t gex_VIS_StridedPutNB(gex_TM_t tm, gex_Rank_t dstrank, void *dstaddr, const ptrdiff_t dststrides[], void *srcaddr, const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[], size_t stridelevels, gex_Flags_t flags) {
  (void)flags;
  return pinwire_vis_put_strided(pinwire_vis_target(tm, dstrank, pinwire_vis_is_nothing(elemsz, count, stridelevels)), PINWIRE_VIS_NB, dstaddr, dststrides, srcaddr, srcstrides, elemsz, count, stridelevels);
}
static inline int gex_VIS_StridedPutNBI(gex_TM_t tm, gex_Rank_t dstrank, void *dstaddr, const ptrdiff_t dststrides[], void *srcaddr, const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[], size_t stridelevels, gex_Flags_t flags) {
  (void)flags;
  (void)pinwire_vis_put_strided(pinwire_vis_target(tm, dstrank, pinwire_vis_is_nothing(elemsz, count, stridelevels)), PINWIRE_VIS_NBI, dstaddr, dststrides, srcaddr, srcstrides, elemsz, count, stridelevels);
  return 0;
}
static inline int gex_VIS_StridedPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, void *dstaddr, const ptrdiff_t dststrides[], void *srcaddr, const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[], size_t stridelevels, gex_Flags_t flags) {
  (void)flags;
  (void)pinwire_vis_put_strided(pinwire_vis_target(tm, dstrank, pinwire_vis_is_nothing(elemsz, count, stridelevels)), PINWIRE_VIS_BLOCKING, dstaddr, dststrides, srcaddr, srcstrides, elemsz, count, stridelevels);
  return 0;
}
static inline gex_Event_t gex_VIS_StridedGetNB(gex_TM_t tm, void *dstaddr, const ptrdiff_t dststrides[], gex_Rank_t srcrank, void *srcaddr, const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[], size_t stridelevels, gex_Flags_t flags) {
  (void)flags;
  return pinwire_vis_get_strided(pinwire_vis_target(tm, srcrank, pinwire_vis_is_nothing(elemsz, count, stridelevels)), PINWIRE_VIS_NB, dstaddr, dststrides, srcaddr, srcstrides, elemsz, count, stridelevels);
}
static inline int gex_VIS_StridedGetNBI(gex_TM_t tm, void *dstaddr, const ptrdiff_t dststrides[], gex_Rank_t srcrank, void *srcaddr, const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[], size_t stridelevels, gex_Flags_t flags) {
  (void)flags;
  (void)pinwire_vis_get_strided(pinwire_vis_target(tm, srcrank, pinwire_vis_is_nothing(elemsz, count, stridelevels)), PINWIRE_VIS_NBI, dstaddr, dststrides, srcaddr, srcstrides, elemsz, count, stridelevels);
  return 0;
}
static inline int gex_VIS_StridedGetBlocking(gex_TM_t tm, void *dstaddr, const ptrdiff_t dststrides[], gex_Rank_t srcrank, void *srcaddr, const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[], size_t stridelevels, gex_Flags_t flags) {
  (void)flags;
  (void)pinwire_vis_get_strided(pinwire_vis_target(tm, srcrank, pinwire_vis_is_nothing(elemsz, count, stridelevels)), PINWIRE_VIS_BLOCKING, dstaddr, dststrides, srcaddr, srcstrides, elemsz, count, stridelevels);
  return 0;
}

/* This thread's next put of many pieces has `handler` run at its peer, once the data is there: one that was registered
 * there for Medium replies without arguments, with nbytes at source_addr, which stay until the put is complete. Such a
 * put is complete when it returns. handler 0: nothing. flags: 0 (GX-138). */
#define GEX_VIS_MAX_PEERCOMPLETION ((size_t)256)
void gex_VIS_SetPeerCompletionHandler(gex_AM_Index_t handler, const void *source_addr, size_t nbytes, gex_Flags_t flags);

/* ---- GASNet-1's: strides without a sign, the bytes of an element in count[0] (VIS-013, VIS-019, VIS-024) ---------- */

static inline void gasnet_putv_bulk(gasnet_node_t dstnode, size_t dstcount, gasnet_memvec_t const dstlist[], size_t srccount, gasnet_memvec_t const srclist[]) {
  (void)pinwire_vis_put_vector(dstnode, PINWIRE_VIS_BLOCKING, dstcount, (gex_Memvec_t const *)(const void *)dstlist, srccount, (gex_Memvec_t const *)(const void *)srclist);
}
static inline gasnet_handle_t gasnet_putv_nb_bulk(gasnet_node_t dstnode, size_t dstcount, gasnet_memvec_t const dstlist[], size_t srccount, gasnet_memvec_t const srclist[]) {
  return pinwire_vis_put_vector(dstnode, PINWIRE_VIS_NB, dstcount, (gex_Memvec_t const *)(const void *)dstlist, srccount, (gex_Memvec_t const *)(const void *)srclist);
}
static inline void gasnet_putv_nbi_bulk(gasnet_node_t dstnode, size_t dstcount, gasnet_memvec_t const dstlist[], size_t srccount, gasnet_memvec_t const srclist[]) {
  (void)pinwire_vis_put_vector(dstnode, PINWIRE_VIS_NBI, dstcount, (gex_Memvec_t const *)(const void *)dstlist, srccount, (gex_Memvec_t const *)(const void *)srclist);
}
static inline void gasnet_getv_bulk(size_t dstcount, gasnet_memvec_t const dstlist[], gasnet_node_t srcnode, size_t srccount, gasnet_memvec_t const srclist[]) {
  (void)pinwire_vis_get_vector(srcnode, PINWIRE_VIS_BLOCKING, dstcount, (gex_Memvec_t const *)(const void *)dstlist, srccount, (gex_Memvec_t const *)(const void *)srclist);
}
static inline gasnet_handle_t gasnet_getv_nb_bulk(size_t dstcount, gasnet_memvec_t const dstlist[], gasnet_node_t srcnode, size_t srccount, gasnet_memvec_t const srclist[]) {
  return pinwire_vis_get_vector(srcnode, PINWIRE_VIS_NB, dstcount, (gex_Memvec_t const *)(const void *)dstlist, srccount, (gex_Memvec_t const *)(const void *)srclist);
}
static inline void gasnet_getv_nbi_bulk(size_t dstcount, gasnet_memvec_t const dstlist[], gasnet_node_t srcnode, size_t srccount, gasnet_memvec_t const srclist[]) {
  (void)pinwire_vis_get_vector(srcnode, PINWIRE_VIS_NBI, dstcount, (gex_Memvec_t const *)(const void *)dstlist, srccount, (gex_Memvec_t const *)(const void *)srclist);
}
static inline void gasnet_puti_bulk(gasnet_node_t dstnode, size_t dstcount, void *const dstlist[], size_t dstlen, size_t srccount, void *const srclist[], size_t srclen) {
  (void)pinwire_vis_put_indexed(dstnode, PINWIRE_VIS_BLOCKING, dstcount, dstlist, dstlen, srccount, srclist, srclen);
}
static inline gasnet_handle_t gasnet_puti_nb_bulk(gasnet_node_t dstnode, size_t dstcount, void *const dstlist[], size_t dstlen, size_t srccount, void *const srclist[], size_t srclen) {
  return pinwire_vis_put_indexed(dstnode, PINWIRE_VIS_NB, dstcount, dstlist, dstlen, srccount, srclist, srclen);
}
static inline void gasnet_puti_nbi_bulk(gasnet_node_t dstnode, size_t dstcount, void *const dstlist[], size_t dstlen, size_t srccount, void *const srclist[], size_t srclen) {
  (void)pinwire_vis_put_indexed(dstnode, PINWIRE_VIS_NBI, dstcount, dstlist, dstlen, srccount, srclist, srclen);
}
static inline void gasnet_geti_bulk(size_t dstcount, void *const dstlist[], size_t dstlen, gasnet_node_t srcnode, size_t srccount, void *const srclist[], size_t srclen) {
  (void)pinwire_vis_get_indexed(srcnode, PINWIRE_VIS_BLOCKING, dstcount, dstlist, dstlen, srccount, srclist, srclen);
}
static inline gasnet_handle_t gasnet_geti_nb_bulk(size_t dstcount, void *const dstlist[], size_t dstlen, gasnet_node_t srcnode, size_t srccount, void *const srclist[], size_t srclen) {
  return pinwire_vis_get_indexed(srcnode, PINWIRE_VIS_NB, dstcount, dstlist, dstlen, srccount, srclist, srclen);
}
static inline void gasnet_geti_nbi_bulk(size_t dstcount, void *const dstlist[], size_t dstlen, gasnet_node_t srcnode, size_t srccount, void *const srclist[], size_t srclen) {
  (void)pinwire_vis_get_indexed(srcnode, PINWIRE_VIS_NBI, dstcount, dstlist, dstlen, srccount, srclist, srclen);
}
static inline void gasnet_puts_bulk(gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[], void *srcaddr, const size_t srcstrides[], const size_t count[], size_t stridelevels) {
  (void)pinwire_vis_put_strided(dstnode, PINWIRE_VIS_BLOCKING, dstaddr, (const ptrdiff_t *)(const void *)dststrides, srcaddr,
      (const ptrdiff_t *)(const void *)srcstrides, count[0], count + 1, stridelevels);
}
static inline gasnet_handle_t gasnet_puts_nb_bulk(gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[], void *srcaddr, const size_t srcstrides[], const size_t count[], size_t stridelevels) {
  return pinwire_vis_put_strided(dstnode, PINWIRE_VIS_NB, dstaddr, (const ptrdiff_t *)(const void *)dststrides, srcaddr,
      (const ptrdiff_t *)(const void *)srcstrides, count[0], count + 1, stridelevels);
}
static inline void gasnet_puts_nbi_bulk(gasnet_node_t dstnode, void *dstaddr, const size_t dststrides[], void *srcaddr, const size_t srcstrides[], const size_t count[], size_t stridelevels) {
  (void)pinwire_vis_put_strided(dstnode, PINWIRE_VIS_NBI, dstaddr, (const ptrdiff_t *)(const void *)dststrides, srcaddr,
      (const ptrdiff_t *)(const void *)srcstrides, count[0], count + 1, stridelevels);
}
static inline void gasnet_gets_bulk(void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode, void *srcaddr, const size_t srcstrides[], const size_t count[], size_t stridelevels) {
  (void)pinwire_vis_get_strided(srcnode, PINWIRE_VIS_BLOCKING, dstaddr, (const ptrdiff_t *)(const void *)dststrides, srcaddr,
      (const ptrdiff_t *)(const void *)srcstrides, count[0], count + 1, stridelevels);
}
static inline gasnet_handle_t gasnet_gets_nb_bulk(void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode, void *srcaddr, const size_t srcstrides[], const size_t count[], size_t stridelevels) {
  return pinwire_vis_get_strided(srcnode, PINWIRE_VIS_NB, dstaddr, (const ptrdiff_t *)(const void *)dststrides, srcaddr,
      (const ptrdiff_t *)(const void *)srcstrides, count[0], count + 1, stridelevels);
}
static inline void gasnet_gets_nbi_bulk(void *dstaddr, const size_t dststrides[], gasnet_node_t srcnode, void *srcaddr, const size_t srcstrides[], const size_t count[], size_t stridelevels) {
  (void)pinwire_vis_get_strided(srcnode, PINWIRE_VIS_NBI, dstaddr, (const ptrdiff_t *)(const void *)dststrides, srcaddr,
      (const ptrdiff_t *)(const void *)srcstrides, count[0], count + 1, stridelevels);
}

#ifdef __cplusplus
}
#endif

#endif
