/* Strided transfers of nothing, and of one element (GASNet-EX 0.19, "Vector, Indexed and Strided").
 */
#include "../ex.h"

enum { kBytes = 2000 };

static unsigned char local[kBytes];

/* The arguments of one call. */
struct transfer {
  gex_TM_t tm;
  gex_Rank_t rank;
  void *remote, *own;
  const ptrdiff_t *strides;
  size_t element;
  const size_t *count;
  size_t levels;
};

/* In all of its forms; what is done at once or later is synchronised. */
static void put(const struct transfer *t) {
  const gex_Event_t event = gex_VIS_StridedPutNB(t->tm, t->rank, t->remote, t->strides, t->own,
                                                 t->strides, t->element, t->count, t->levels, 0);
  EXPECT(event != GEX_EVENT_NO_OP);
  gex_Event_Wait(event);
  EXPECT_EQ(gex_VIS_StridedPutNBI(t->tm, t->rank, t->remote, t->strides, t->own, t->strides,
                                  t->element, t->count, t->levels, 0),
            0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  EXPECT_EQ(gex_VIS_StridedPutBlocking(t->tm, t->rank, t->remote, t->strides, t->own, t->strides,
                                       t->element, t->count, t->levels, 0),
            0);
}
static void get(const struct transfer *t) {
  const gex_Event_t event = gex_VIS_StridedGetNB(t->tm, t->own, t->strides, t->rank, t->remote,
                                                 t->strides, t->element, t->count, t->levels, 0);
  EXPECT(event != GEX_EVENT_NO_OP);
  gex_Event_Wait(event);
  EXPECT_EQ(gex_VIS_StridedGetNBI(t->tm, t->own, t->strides, t->rank, t->remote, t->strides,
                                  t->element, t->count, t->levels, 0),
            0);
  gex_NBI_Wait(GEX_EC_GET, 0);
  EXPECT_EQ(gex_VIS_StridedGetBlocking(t->tm, t->own, t->strides, t->rank, t->remote, t->strides,
                                       t->element, t->count, t->levels, 0),
            0);
}

/* Without levels there are no arrays to look at. */
CASE(no_levels_are_one_element, "GX-137") {
  for (gex_Rank_t k = 0; k < nodes; ++k) {
    const gex_Rank_t peer = (me + k) % nodes;
    for (size_t bytes = 1; bytes <= kBytes; bytes = bytes * 4 + 3) {
      const struct transfer t = {
          .tm = team, .rank = peer, .remote = part(peer) + 3, .own = local, .element = bytes};
      fill(local, bytes, (unsigned)bytes + k);
      put(&t);
      memset(local, 0xdd, bytes);
      get(&t);
      EXPECT(holds(local, bytes, (unsigned)bytes + k));
    }
  }
}

static const ptrdiff_t strides[] = {8, 64, 512};
static const size_t none_of_the_first[] = {0, 3, 2}, none_of_the_last[] = {2, 3, 0};

/* No bytes in an element: nothing else is looked at, the arrays neither. */
static void of_empty_elements(gex_TM_t tm, gex_Rank_t rank, void *remote, void *own) {
  const struct transfer t = {.tm = tm, .rank = rank, .remote = remote, .own = own, .levels = 99};
  put(&t);
  get(&t);
}
/* No elements: strides and counts are valid all the same. */
static void of_no_elements(gex_TM_t tm, gex_Rank_t rank, void *remote, void *own) {
  for (int i = 0; i < 2; ++i) {
    const struct transfer t = {.tm = tm,
                               .rank = rank,
                               .remote = remote,
                               .own = own,
                               .strides = strides,
                               .element = 4,
                               .count = i ? none_of_the_first : none_of_the_last,
                               .levels = 3};
    put(&t);
    get(&t);
  }
}

CASE(nothing_is_moved, "GX-137") {
  for (gex_Rank_t k = 0; k < nodes; ++k) {
    const gex_Rank_t peer = (me + k) % nodes;
    fill(local, kBytes, 1);
    EXPECT_EQ(gex_RMA_PutBlocking(team, peer, part(peer), local, kBytes, 0), 0);
    fill(local, kBytes, 2);
    of_empty_elements(team, peer, part(peer), local);
    of_no_elements(team, peer, part(peer), local);
    EXPECT(holds(local, kBytes, 2));
    EXPECT_EQ(gex_RMA_GetBlocking(team, local, peer, part(peer), kBytes, 0), 0);
    EXPECT(holds(local, kBytes, 1));
  }
}
CASE(addresses_of_nothing_are_ignored, "GX-137") {
  void *const nowhere[] = {NULL, (void *)(uintptr_t)8, (void *)(uintptr_t)-1};
  for (int i = 0; i < 3; ++i) {
    of_empty_elements(team, (me + 1) % nodes, nowhere[i], nowhere[2 - i]);
    of_no_elements(team, (me + 1) % nodes, nowhere[i], nowhere[2 - i]);
  }
}

/* Jobs of their own: ranks that no team has, and no team at all. */
static void of_nothing(gex_TM_t tm, gex_Rank_t rank) {
  of_empty_elements(tm, rank, NULL, NULL);
  of_no_elements(tm, rank, NULL, NULL);
}
JOB(rank_of_nothing_is_ignored, "GX-137", kLocal, 0, "") {
  start_ex_job(0, kSegmentBytes);
  of_nothing(team, nodes);
  of_nothing(team, GEX_RANK_INVALID);
}
JOB(rank_of_nothing_in_a_smaller_team_is_ignored, "GX-137", kLocal, 0, "") {
  gex_TM_t alone;
  start_ex_job(0, kSegmentBytes);
  gex_TM_Split(&alone, team, (int)me, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  of_nothing(alone, GEX_RANK_INVALID);
  EXPECT_EQ(gex_TM_Destroy(alone, NULL, 0), 0);
}
JOB(team_of_nothing_is_ignored, "GX-137", kLocal, 0, "") {
  start_ex_job(0, kSegmentBytes);
  of_nothing(GEX_TM_INVALID, 0);
  of_nothing(GEX_TM_INVALID, GEX_RANK_INVALID);
}

/* GASNet-1's calls: of nothing, all other arguments are ignored, the node too (VIS-015, VIS-022,
 * VIS-029). */
JOB(gasnet1_vectors_of_nothing, "GX-139", kLocal, 0, "") {
  start_ex_job(GEX_FLAG_USES_GASNET1, kSegmentBytes);
  gasnet_putv_bulk(nodes, 0, NULL, 0, NULL);
  gasnet_getv_nbi_bulk(0, NULL, (gasnet_node_t)-1, 0, NULL);
  gasnet_wait_syncnbi_all();
  gasnet_wait_syncnb(gasnet_putv_nb_bulk((gasnet_node_t)-1, 0, NULL, 0, NULL));
}
JOB(gasnet1_indices_of_nothing, "GX-139", kLocal, 0, "") {
  start_ex_job(GEX_FLAG_USES_GASNET1, kSegmentBytes);
  gasnet_puti_bulk(nodes, 0, NULL, 0, 0, NULL, 0);
  gasnet_geti_nbi_bulk(0, NULL, 5, (gasnet_node_t)-1, 0, NULL, 7);
  gasnet_wait_syncnbi_all();
  gasnet_wait_syncnb(gasnet_puti_nb_bulk((gasnet_node_t)-1, 0, NULL, 7, 0, NULL, 5));
}
/* count[0] is the bytes of an element. */
JOB(gasnet1_boxes_of_nothing, "GX-139", kLocal, 0, "") {
  static const size_t counts[][3] = {{0, 3, 2}, {4, 0, 2}, {4, 2, 0}};
  start_ex_job(GEX_FLAG_USES_GASNET1, kSegmentBytes);
  for (int i = 0; i < 3; ++i) {
    gasnet_puts_bulk(nodes, NULL, NULL, NULL, NULL, counts[i], 2);
    gasnet_gets_nbi_bulk(NULL, NULL, (gasnet_node_t)-1, NULL, NULL, counts[i], 2);
    gasnet_wait_syncnbi_all();
    gasnet_wait_syncnb(
        gasnet_puts_nb_bulk((gasnet_node_t)-1, NULL, NULL, NULL, NULL, counts[i], 2));
  }
}
