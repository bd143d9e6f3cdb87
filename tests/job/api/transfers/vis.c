/* Transfers of many pieces against copies by hand: vectors, indexed regions and boxes, both APIs, each way to end
 * (GX-131...138, VIS-001...038). */
#include <gasnetex.h>
#include <gasnet_coll.h>
#include <gasnet_vis.h>

#include "../job_test.h"

enum { kArea = 20000, kRounds = 30, kPiecesMax = 40, kLevels = 4, kOnComplete = 210, kStretch = 300000 };

static gex_Client_t client;
static gex_EP_t endpoint;
static gex_TM_t team;
static gex_Rank_t ranks;
static unsigned char *base[64]; /* of every rank's memory, as it sees it: one area for each peer */
static unsigned char *mine, *shadow, *back;
static unsigned long long seed = 88172645463325252ull;
static volatile int completions;

static size_t draw(size_t below) {
  seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
  return (size_t)(seed >> 11) % below;
}

/* Disjoint regions inside [base, base + kArea): `total` bytes in all, in any order. */
typedef struct {
  gex_Memvec_t list[kPiecesMax];
  void *addresses[kPiecesMax];
  size_t count;
} pieces_t;
static void cut(pieces_t *pieces, unsigned char *area, size_t total) {
  const size_t room = kArea / kPiecesMax;
  size_t order[kPiecesMax];
  for (size_t i = 0; i < kPiecesMax; ++i) order[i] = i;
  for (size_t i = kPiecesMax; i > 1; --i) {
    const size_t j = draw(i), was = order[i - 1];
    order[i - 1] = order[j], order[j] = was;
  }
  for (pieces->count = 0; pieces->count < kPiecesMax; ++pieces->count) {
    const size_t left = kPiecesMax - pieces->count - 1, must = total > left * (room - 8) ? total - left * (room - 8) : 0;
    size_t bytes = draw(4) ? draw(room - 8) : 0;
    if (bytes < must) bytes = must;
    if (bytes > total) bytes = total;
    pieces->list[pieces->count].gex_addr = bytes ? area + order[pieces->count] * room + draw(8) : NULL;
    pieces->list[pieces->count].gex_len = bytes;
    total -= bytes;
  }
  EXPECT_EQ(total, 0);
}
/* Disjoint, too: a destination's pieces are under way together, and arrive in any order. */
static void cut_alike(pieces_t *pieces, unsigned char *area, size_t count, size_t bytes) {
  const size_t room = kArea / count;
  int is_taken[kPiecesMax] = {0};
  for (size_t i = 0; i < count; ++i) {
    const size_t place = i * 11 % count;
    EXPECT(!is_taken[place]++);
    pieces->addresses[i] = area + place * room + draw(room - bytes + 1);
  }
  pieces->count = count;
}

/* Byte by byte: what a transfer is to do. */
static void copy_lists(const gex_Memvec_t *to, const gex_Memvec_t *from, size_t to_count, size_t from_count) {
  size_t i = 0, at = 0;
  for (size_t j = 0; j < from_count; ++j)
    for (size_t k = 0; k < from[j].gex_len; ++k) {
      while (at == to[i].gex_len) ++i, at = 0;
      EXPECT(i < to_count);
      ((unsigned char *)to[i].gex_addr)[at++] = ((unsigned char *)from[j].gex_addr)[k];
    }
}
static void copy_boxes(unsigned char *to, const ptrdiff_t *to_strides, const unsigned char *from, const ptrdiff_t *from_strides,
                       size_t bytes, const size_t *count, size_t levels) {
  if (levels == 0) {
    memcpy(to, from, bytes);
    return;
  }
  for (size_t i = 0; i < count[levels - 1]; ++i)
    copy_boxes(to + (ptrdiff_t)i * to_strides[levels - 1], to_strides, from + (ptrdiff_t)i * from_strides[levels - 1], from_strides,
               bytes, count, levels - 1);
}

static unsigned char *area_of(gex_Rank_t rank) { return base[rank] + (size_t)me * kArea; }
/* The area of a peer is compared with the shadow of it. */
static void compare(gex_Rank_t rank, int round) {
  memset(back, 0, kArea);
  gex_RMA_GetBlocking(team, back, rank, area_of(rank), kArea, 0);
  for (size_t i = 0; i < kArea; ++i)
    if (back[i] != shadow[i]) fail_at(__FILE__, __LINE__, "byte %zu in round %d of the area at rank %u is %u, not %u", i, round, rank, back[i], shadow[i]);
}
static void prepare(gex_Rank_t rank) {
  for (size_t i = 0; i < kArea; ++i) mine[i] = (unsigned char)draw(256), shadow[i] = (unsigned char)draw(256);
  gex_RMA_PutBlocking(team, rank, area_of(rank), shadow, kArea, 0);
}
/* Ends what was begun: by its event, one leaf before it; or as an implicit operation. */
static void finish(int how, gex_Event_t event, int is_put) {
  if (how == 1 && is_put) gex_Event_Wait(gex_Event_QueryLeaf(event, GEX_EC_LC));
  if (how == 1) gex_Event_Wait(event);
  if (how == 2) gex_NBI_Wait(is_put ? GEX_EC_PUT | GEX_EC_LC : GEX_EC_GET, 0);
}
/* Lists as a peer has them, from lists in our shadow of its area. */
static void move_list(pieces_t *there, const pieces_t *here, gex_Rank_t rank) {
  *there = *here;
  for (size_t i = 0; i < here->count; ++i) {
    if (here->list[i].gex_addr != NULL) there->list[i].gex_addr = area_of(rank) + ((unsigned char *)here->list[i].gex_addr - shadow);
    if (here->addresses[i] != NULL) there->addresses[i] = area_of(rank) + ((unsigned char *)here->addresses[i] - shadow);
  }
}

/* GX-131...134, VIS-007, VIS-013...018 */
static void vectors(gex_Rank_t rank, int round) {
  pieces_t here, far, there;
  memset(&far, 0, sizeof far);
  const int how = round % 3, is_legacy = round % 2;
  const size_t total = draw(kArea / 2);
  gex_Event_t event = GEX_EVENT_INVALID;
  prepare(rank);
  cut(&here, mine, total);
  cut(&far, shadow, total);
  move_list(&there, &far, rank);
  const gasnet_memvec_t *h = (const gasnet_memvec_t *)here.list, *t = (const gasnet_memvec_t *)there.list;
  if (how == 0 && is_legacy) gasnet_putv_bulk(rank, there.count, t, here.count, h);
  if (how == 1 && is_legacy) event = gasnet_putv_nb_bulk(rank, there.count, t, here.count, h);
  if (how == 2 && is_legacy) gasnet_putv_nbi_bulk(rank, there.count, t, here.count, h);
  if (how == 0 && !is_legacy) EXPECT_EQ(gex_VIS_VectorPutBlocking(team, rank, there.count, there.list, here.count, here.list, 0), 0);
  if (how == 1 && !is_legacy) event = gex_VIS_VectorPutNB(team, rank, there.count, there.list, here.count, here.list, GEX_FLAG_ENABLE_LEAF_LC);
  if (how == 2 && !is_legacy) EXPECT_EQ(gex_VIS_VectorPutNBI(team, rank, there.count, there.list, here.count, here.list, GEX_FLAG_ENABLE_LEAF_LC), 0);
  finish(how, event, 1);
  copy_lists(far.list, here.list, far.count, here.count);
  compare(rank, round);

  memcpy(back, mine, kArea);
  cut(&here, mine, total);
  cut(&far, shadow, total);
  move_list(&there, &far, rank);
  event = GEX_EVENT_INVALID;
  if (how == 0 && is_legacy) gasnet_getv_bulk(here.count, h, rank, there.count, t);
  if (how == 1 && is_legacy) event = gasnet_getv_nb_bulk(here.count, h, rank, there.count, t);
  if (how == 2 && is_legacy) gasnet_getv_nbi_bulk(here.count, h, rank, there.count, t);
  if (how == 0 && !is_legacy) EXPECT_EQ(gex_VIS_VectorGetBlocking(team, here.count, here.list, rank, there.count, there.list, 0), 0);
  if (how == 1 && !is_legacy) event = gex_VIS_VectorGetNB(team, here.count, here.list, rank, there.count, there.list, 0);
  if (how == 2 && !is_legacy) EXPECT_EQ(gex_VIS_VectorGetNBI(team, here.count, here.list, rank, there.count, there.list, 0), 0);
  finish(how, event, 0);
  for (size_t i = 0; i < here.count; ++i) /* the same regions of what was there before */
    if (here.list[i].gex_len != 0) here.list[i].gex_addr = back + ((unsigned char *)here.list[i].gex_addr - mine);
  copy_lists(here.list, far.list, here.count, far.count);
  EXPECT_EQ(memcmp(back, mine, kArea), 0);
}

/* VIS-019...022 */
static void indices(gex_Rank_t rank, int round) {
  static const size_t shapes[][4] = {{12, 4, 6, 8}, {1, 480, 30, 16}, {40, 1, 1, 40}, {7, 100, 7, 100}};
  const size_t *shape = shapes[round % 4], here_count = shape[0], here_bytes = shape[1], there_count = shape[2], there_bytes = shape[3];
  const int how = round % 3, is_legacy = round % 2;
  pieces_t here, far, there;
  gex_Event_t event = GEX_EVENT_INVALID;
  memset(&here, 0, sizeof here);
  memset(&far, 0, sizeof far);
  prepare(rank);
  cut_alike(&here, mine, here_count, here_bytes);
  cut_alike(&far, shadow, there_count, there_bytes);
  move_list(&there, &far, rank);
  for (size_t i = 0; i < here_count; ++i) here.list[i].gex_addr = here.addresses[i], here.list[i].gex_len = here_bytes;
  for (size_t i = 0; i < there_count; ++i) far.list[i].gex_addr = far.addresses[i], far.list[i].gex_len = there_bytes;
  if (how == 0 && is_legacy) gasnet_puti_bulk(rank, there_count, there.addresses, there_bytes, here_count, here.addresses, here_bytes);
  if (how == 1 && is_legacy) event = gasnet_puti_nb_bulk(rank, there_count, there.addresses, there_bytes, here_count, here.addresses, here_bytes);
  if (how == 2 && is_legacy) gasnet_puti_nbi_bulk(rank, there_count, there.addresses, there_bytes, here_count, here.addresses, here_bytes);
  if (how == 0 && !is_legacy)
    gex_VIS_IndexedPutBlocking(team, rank, there_count, there.addresses, there_bytes, here_count, here.addresses, here_bytes, 0);
  if (how == 1 && !is_legacy)
    event = gex_VIS_IndexedPutNB(team, rank, there_count, there.addresses, there_bytes, here_count, here.addresses, here_bytes, 0);
  if (how == 2 && !is_legacy)
    gex_VIS_IndexedPutNBI(team, rank, there_count, there.addresses, there_bytes, here_count, here.addresses, here_bytes, 0);
  finish(how, event, 1);
  copy_lists(far.list, here.list, there_count, here_count);
  compare(rank, round);
  memset(mine, 0, kArea);
  event = GEX_EVENT_INVALID;
  if (how == 0 && is_legacy) gasnet_geti_bulk(here_count, here.addresses, here_bytes, rank, there_count, there.addresses, there_bytes);
  if (how == 1 && is_legacy) event = gasnet_geti_nb_bulk(here_count, here.addresses, here_bytes, rank, there_count, there.addresses, there_bytes);
  if (how == 2 && is_legacy) gasnet_geti_nbi_bulk(here_count, here.addresses, here_bytes, rank, there_count, there.addresses, there_bytes);
  if (how == 0 && !is_legacy)
    gex_VIS_IndexedGetBlocking(team, here_count, here.addresses, here_bytes, rank, there_count, there.addresses, there_bytes, 0);
  if (how == 1 && !is_legacy)
    event = gex_VIS_IndexedGetNB(team, here_count, here.addresses, here_bytes, rank, there_count, there.addresses, there_bytes, 0);
  if (how == 2 && !is_legacy)
    gex_VIS_IndexedGetNBI(team, here_count, here.addresses, here_bytes, rank, there_count, there.addresses, there_bytes, 0);
  finish(how, event, 0);
  memset(back, 0, kArea);
  for (size_t i = 0; i < here_count; ++i) here.list[i].gex_addr = back + ((unsigned char *)here.addresses[i] - mine);
  copy_lists(here.list, far.list, here_count, there_count);
  EXPECT_EQ(memcmp(back, mine, kArea), 0);
}

/* A box of elements somewhere in an area, its dimensions in any order, forwards or backwards; monotonic for GASNet-1. */
static unsigned char *place_box(unsigned char *area, ptrdiff_t *strides, size_t bytes, const size_t *count, size_t levels, int is_plain) {
  size_t order[kLevels], step = bytes + draw(3), offset = 0;
  for (size_t i = 0; i < levels; ++i) order[i] = i;
  for (size_t i = levels; i > 1 && !is_plain; --i) {
    const size_t j = draw(i), was = order[i - 1];
    order[i - 1] = order[j], order[j] = was;
  }
  for (size_t i = 0; i < levels; ++i) {
    const size_t level = order[i];
    const int is_backwards = !is_plain && draw(2);
    strides[level] = is_backwards ? -(ptrdiff_t)step : (ptrdiff_t)step;
    if (is_backwards) offset += step * (count[level] - 1);
    step = step * count[level] + draw(4);
  }
  EXPECT(step < kArea);
  return area + offset;
}

/* GX-136, GX-137, VIS-024...033 */
static void boxes(gex_Rank_t rank, int round) {
  const size_t levels = (size_t)round % (kLevels + 1), bytes = 1 + draw(20);
  const int how = round % 3, is_legacy = round % 2;
  size_t count[kLevels + 1] = {bytes}, *extent = count + 1;
  ptrdiff_t here_strides[kLevels], there_strides[kLevels];
  gex_Event_t event = GEX_EVENT_INVALID;
  for (size_t i = 0; i < levels; ++i) extent[i] = 1 + draw(4);
  prepare(rank);
  unsigned char *here = place_box(mine, here_strides, bytes, extent, levels, is_legacy);
  unsigned char *far = place_box(shadow, there_strides, bytes, extent, levels, is_legacy), *there = area_of(rank) + (far - shadow);
  const size_t *hs = (const size_t *)here_strides, *ts = (const size_t *)there_strides;
  if (how == 0 && is_legacy) gasnet_puts_bulk(rank, there, ts, here, hs, count, levels);
  if (how == 1 && is_legacy) event = gasnet_puts_nb_bulk(rank, there, ts, here, hs, count, levels);
  if (how == 2 && is_legacy) gasnet_puts_nbi_bulk(rank, there, ts, here, hs, count, levels);
  if (how == 0 && !is_legacy) gex_VIS_StridedPutBlocking(team, rank, there, there_strides, here, here_strides, bytes, extent, levels, 0);
  if (how == 1 && !is_legacy) event = gex_VIS_StridedPutNB(team, rank, there, there_strides, here, here_strides, bytes, extent, levels, 0);
  if (how == 2 && !is_legacy) gex_VIS_StridedPutNBI(team, rank, there, there_strides, here, here_strides, bytes, extent, levels, 0);
  finish(how, event, 1);
  copy_boxes(far, there_strides, here, here_strides, bytes, extent, levels);
  compare(rank, round);
  memset(mine, 0, kArea);
  event = GEX_EVENT_INVALID;
  if (how == 0 && is_legacy) gasnet_gets_bulk(here, hs, rank, there, ts, count, levels);
  if (how == 1 && is_legacy) event = gasnet_gets_nb_bulk(here, hs, rank, there, ts, count, levels);
  if (how == 2 && is_legacy) gasnet_gets_nbi_bulk(here, hs, rank, there, ts, count, levels);
  if (how == 0 && !is_legacy) gex_VIS_StridedGetBlocking(team, here, here_strides, rank, there, there_strides, bytes, extent, levels, 0);
  if (how == 1 && !is_legacy) event = gex_VIS_StridedGetNB(team, here, here_strides, rank, there, there_strides, bytes, extent, levels, 0);
  if (how == 2 && !is_legacy) gex_VIS_StridedGetNBI(team, here, here_strides, rank, there, there_strides, bytes, extent, levels, 0);
  finish(how, event, 0);
  memset(back, 0, kArea);
  copy_boxes(back + (here - mine), here_strides, far, there_strides, bytes, extent, levels);
  EXPECT_EQ(memcmp(back, mine, kArea), 0);
}

/* GX-036, GX-038, GX-132: sources are free once puts of them are locally complete. In the last part of the right neighbour's memory. */
static void sources(void) {
  const gex_Rank_t to = (me + 1) % ranks;
  unsigned char *there = base[to] + (size_t)ranks * kArea, *here = malloc(3 * kStretch + 2), *got = malloc(3 * kStretch);
  for (int how = 0; how < 3; ++how) {
    gex_Memvec_t from[3], dest = {there, 3 * kStretch};
    gex_Event_t root = GEX_EVENT_INVALID, leaf = GEX_EVENT_INVALID;
    for (int i = 0; i < 3; ++i) {
      from[i].gex_addr = here + i * (kStretch + 1), from[i].gex_len = kStretch;
      fill(from[i].gex_addr, kStretch, (unsigned)(me * 10 + (unsigned)(how * 3 + i)));
    }
    if (how == 2) gex_NBI_BeginAccessRegion(0);
    if (how == 0) root = gex_VIS_VectorPutNB(team, to, 1, &dest, 3, from, GEX_FLAG_ENABLE_LEAF_LC);
    if (how != 0) EXPECT_EQ(gex_VIS_VectorPutNBI(team, to, 1, &dest, 3, from, GEX_FLAG_ENABLE_LEAF_LC), 0);
    if (how == 2) root = gex_NBI_EndAccessRegion(0);
    if (root != GEX_EVENT_INVALID) leaf = gex_Event_QueryLeaf(root, GEX_EC_LC);
    if (how == 1) gex_NBI_Wait(GEX_EC_LC, 0);
    gex_Event_Wait(leaf);
    memset(here, 0, 3 * kStretch + 2);
    gex_Event_Wait(root);
    gex_NBI_Wait(GEX_EC_PUT, 0);
    gex_RMA_GetBlocking(team, got, to, there, 3 * kStretch, 0);
    for (int i = 0; i < 3; ++i) EXPECT(holds(got + i * kStretch, kStretch, (unsigned)(me * 10 + (unsigned)(how * 3 + i))));
  }
  free(here);
  free(got);
}

/* GX-137, VIS-014...016, VIS-022, VIS-029: nothing, at no address, is nothing. */
static void nothing(void) {
  const size_t none[] = {0, 3};
  const ptrdiff_t strides[] = {8, 64};
  gex_VIS_VectorPutBlocking(team, 0, 0, NULL, 0, NULL, 0);
  gex_Event_Wait(gex_VIS_VectorGetNB(team, 0, NULL, 0, 0, NULL, 0));
  gex_VIS_IndexedPutBlocking(team, 0, 0, NULL, 0, 0, NULL, 0, 0);
  gex_VIS_StridedPutBlocking(team, 0, NULL, strides, NULL, strides, 4, none, 2, 0);
  gex_VIS_StridedGetNBI(team, NULL, strides, 0, NULL, strides, 0, none + 1, 1, 0);
  gex_NBI_Wait(GEX_EC_ALL, 0);
}

/* GX-138 */
static void on_complete(gex_Token_t token, void *buf, size_t nbytes) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_ALL);
  EXPECT(nbytes == 33 && info.gex_srcrank < ranks && holds(buf, nbytes, info.gex_srcrank));
  EXPECT(holds(base[me] + (size_t)info.gex_srcrank * kArea, 50, 60 + info.gex_srcrank)); /* the data is there */
  ++completions;
}
static void peer_completion(void) {
  unsigned char note[33];
  const gex_Rank_t to = (me + 1) % ranks;
  const ptrdiff_t strides[] = {5};
  const size_t count[] = {10};
  fill(note, sizeof note, me);
  fill(mine, 50, 60 + me);
  barrier();
  gex_VIS_SetPeerCompletionHandler(kOnComplete, note, 7, 0);
  gex_VIS_SetPeerCompletionHandler(0, NULL, 0, 0);
  gex_VIS_StridedPutBlocking(team, to, area_of(to), strides, mine, strides, 5, count, 1, 0);
  gex_VIS_SetPeerCompletionHandler(kOnComplete, note, sizeof note, 0);
  gex_Event_Wait(gex_VIS_StridedPutNB(team, to, area_of(to), strides, mine, strides, 5, count, 1, 0));
  gex_VIS_StridedPutBlocking(team, to, area_of(to), strides, mine, strides, 5, count, 1, 0);
  GASNET_BLOCKUNTIL(completions == 1);
  barrier();
  EXPECT_EQ(completions, 1);
  barrier(); /* nobody goes on before everyone has looked */
  const size_t none[] = {0};
  gex_VIS_SetPeerCompletionHandler(kOnComplete, note, sizeof note, 0);
  gex_VIS_StridedPutBlocking(team, to, NULL, strides, NULL, strides, 5, none, 1, 0);
  GASNET_BLOCKUNTIL(completions == 2);
}

static void attach(void) {
  gex_Segment_t segment;
  const uintptr_t pages = (kArea * (uintptr_t)ranks + 3 * kStretch + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE;
  EXPECT_EQ(gex_Segment_Attach(&segment, team, pages * GASNET_PAGESIZE), GASNET_OK);
#ifdef GASNET_SEGMENT_EVERYTHING /* no query tells of its memory */
  void *own = malloc(pages * GASNET_PAGESIZE);
#endif
  for (gex_Rank_t rank = 0; rank < ranks; ++rank) {
    void *owner = NULL;
#ifdef GASNET_SEGMENT_EVERYTHING
    gex_Event_Wait(gex_Coll_BroadcastNB(team, rank, &owner, &own, sizeof owner, 0));
#else
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, rank, &owner, NULL, NULL, 0));
#endif
    base[rank] = owner;
  }
}

int main(int argc, char **argv) {
  if (gex_Client_Init(&client, &endpoint, &team, "VIS", &argc, &argv, 0) != GASNET_OK) return 3;
  me = gex_TM_QueryRank(team);
  nodes = ranks = gex_TM_QuerySize(team);
  if (argc > 1) seed ^= strtoull(argv[1], NULL, 10) * 0x9e3779b97f4a7c15ull;
  seed += me;
  gex_AM_Entry_t entry = {kOnComplete, (gex_AM_Fn_t)on_complete, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0, NULL, NULL};
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, &entry, 1), GASNET_OK);
  attach();
  mine = malloc(kArea), shadow = malloc(kArea), back = malloc(kArea);
  nothing();
  for (int round = 0; round < kRounds; ++round) {
    const gex_Rank_t rank = (me + (gex_Rank_t)round) % ranks;
    vectors(rank, round);
    indices(rank, round);
    boxes(rank, round);
  }
  sources();
  peer_completion();
  end_job("vis");
}
