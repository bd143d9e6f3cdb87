/* When puts of many pieces leave their payload to the client again (GASNet-EX 0.19, "Vector,
 * Indexed and Strided"). */
#include "../ex.h"

enum { kPieces = 3, kMost = 30000, kGap = 10 };
enum { kVector, kIndexed, kStrided, kKinds };

static unsigned char payload[kPieces * (kMost + kGap)], back[kPieces * kMost];

/* kPieces regions with gaps here, one after the other there; and the same as a box. */
struct lists {
  size_t bytes;
  gex_Memvec_t from[kPieces], to[1];
  void *from_index[kPieces], *to_index[1];
};
static void fill_payload(struct lists *lists, gex_Rank_t to, size_t bytes, unsigned seed) {
  lists->bytes = bytes;
  for (unsigned i = 0; i < kPieces; ++i) {
    lists->from_index[i] = lists->from[i].gex_addr = payload + i * (bytes + kGap);
    lists->from[i].gex_len = bytes;
    fill(lists->from_index[i], bytes, seed + i);
  }
  lists->to_index[0] = lists->to[0].gex_addr = part(to);
  lists->to[0].gex_len = kPieces * bytes;
}
static void spoil(const struct lists *lists) {
  memset(payload, 0xdd, kPieces * (lists->bytes + kGap));
}
static int arrived(const struct lists *lists, gex_Rank_t at, unsigned seed) {
  EXPECT_EQ(gex_RMA_GetBlocking(team, back, at, part(at), kPieces * lists->bytes, 0), 0);
  for (unsigned i = 0; i < kPieces; ++i)
    if (!holds(back + i * lists->bytes, lists->bytes, seed + i)) return 0;
  return 1;
}

/* The arrays of a box are gone when the call returns. */
static gex_Event_t put_nb(int kind, gex_Rank_t to, const struct lists *l, gex_Flags_t flags) {
  const ptrdiff_t dense[] = {(ptrdiff_t)l->bytes}, loose[] = {(ptrdiff_t)l->bytes + kGap};
  const size_t count[] = {kPieces}, all = kPieces * l->bytes;
  if (kind == kVector) return gex_VIS_VectorPutNB(team, to, 1, l->to, kPieces, l->from, flags);
  if (kind == kIndexed)
    return gex_VIS_IndexedPutNB(team, to, 1, l->to_index, all, kPieces, l->from_index, l->bytes,
                                flags);
  return gex_VIS_StridedPutNB(team, to, part(to), dense, payload, loose, l->bytes, count, 1, flags);
}
static int put_nbi(int kind, gex_Rank_t to, const struct lists *l, gex_Flags_t flags) {
  const ptrdiff_t dense[] = {(ptrdiff_t)l->bytes}, loose[] = {(ptrdiff_t)l->bytes + kGap};
  const size_t count[] = {kPieces}, all = kPieces * l->bytes;
  if (kind == kVector) return gex_VIS_VectorPutNBI(team, to, 1, l->to, kPieces, l->from, flags);
  if (kind == kIndexed)
    return gex_VIS_IndexedPutNBI(team, to, 1, l->to_index, all, kPieces, l->from_index, l->bytes,
                                 flags);
  return gex_VIS_StridedPutNBI(team, to, part(to), dense, payload, loose, l->bytes, count, 1,
                               flags);
}

static const size_t sizes[] = {1, 100, 3000, kMost};
static size_t size_of(int i) {
  const size_t most = part_bytes() / 2 / kPieces;
  return sizes[i] < most ? sizes[i] : most;
}
/* Every kind, in every size, to everyone. */
static void try_all(void (*try)(int kind, gex_Rank_t to, size_t bytes, unsigned seed)) {
  for (gex_Rank_t k = 0; k < nodes; ++k)
    for (int kind = 0; kind < kKinds; ++kind)
      for (int i = 0; i < 4; ++i)
        try(kind, (me + k) % nodes, size_of(i), 7 * k + (unsigned)(kind + 10 * i));
}

/* The leaf is the same one each time it is asked for; the payload may change once it is complete.
 */
static void nb_with_a_leaf(int kind, gex_Rank_t to, size_t bytes, unsigned seed) {
  struct lists lists;
  fill_payload(&lists, to, bytes, seed);
  const gex_Event_t root = put_nb(kind, to, &lists, GEX_FLAG_ENABLE_LEAF_LC);
  EXPECT(root != GEX_EVENT_NO_OP);
  const gex_Event_t leaf = gex_Event_QueryLeaf(root, GEX_EC_LC);
  EXPECT(leaf != GEX_EVENT_NO_OP);
  if (leaf != GEX_EVENT_INVALID) EXPECT(gex_Event_QueryLeaf(root, GEX_EC_LC) == leaf);
  if (seed % 2)
    gex_Event_Wait(leaf);
  else
    while (gex_Event_Test(leaf) != GASNET_OK) gasnet_AMPoll();
  spoil(&lists);
  gex_Event_Wait(root);
  EXPECT(arrived(&lists, to, seed));
}
CASE(a_leaf_of_nb_frees_the_payload, "GX-134") { try_all(nb_with_a_leaf); }

/* Root and leaf in one array; the root alone. */
static void root_and_leaf(int kind, gex_Rank_t to, size_t bytes, unsigned seed) {
  struct lists lists;
  fill_payload(&lists, to, bytes, seed);
  const gex_Event_t root = put_nb(kind, to, &lists, GEX_FLAG_ENABLE_LEAF_LC);
  gex_Event_t both[] = {root, gex_Event_QueryLeaf(root, GEX_EC_LC)};
  gex_Event_WaitAll(both, seed % 2 ? 2 : 1, 0);
  spoil(&lists);
  EXPECT(arrived(&lists, to, seed));
}
CASE(a_leaf_may_wait_for_its_root, "GX-134") { try_all(root_and_leaf); }

static void nbi_as_group(int kind, gex_Rank_t to, size_t bytes, unsigned seed) {
  struct lists lists;
  fill_payload(&lists, to, bytes, seed);
  EXPECT_EQ(put_nbi(kind, to, &lists, GEX_FLAG_ENABLE_LEAF_LC), 0);
  if (seed % 2)
    gex_NBI_Wait(GEX_EC_LC, 0);
  else
    while (gex_NBI_Test(GEX_EC_LC, 0) != GASNET_OK) gasnet_AMPoll();
  spoil(&lists);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  EXPECT(arrived(&lists, to, seed));
}
CASE(nbi_with_the_flag_is_a_group, "GX-132 GX-134") { try_all(nbi_as_group); }

/* In an access region, whose event has the leaf. */
static void region(int kind, gex_Rank_t to, size_t bytes, unsigned seed) {
  struct lists lists;
  fill_payload(&lists, to, bytes, seed);
  gex_NBI_BeginAccessRegion(0);
  EXPECT_EQ(put_nbi(kind, to, &lists, GEX_FLAG_ENABLE_LEAF_LC), 0);
  const gex_Event_t root = gex_NBI_EndAccessRegion(0);
  gex_Event_Wait(gex_Event_QueryLeaf(root, GEX_EC_LC));
  spoil(&lists);
  gex_Event_Wait(root);
  EXPECT(arrived(&lists, to, seed));
}
CASE(a_region_has_the_leaf, "GX-134") { try_all(region); }

/* Without it, with the operation: until then the payload and the lists are left alone. */
static void without(int kind, gex_Rank_t to, size_t bytes, unsigned seed) {
  struct lists lists;
  fill_payload(&lists, to, bytes, seed);
  if (seed % 2) {
    gex_Event_Wait(put_nb(kind, to, &lists, 0));
  } else {
    EXPECT_EQ(put_nbi(kind, to, &lists, 0), 0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
  }
  spoil(&lists);
  EXPECT(arrived(&lists, to, seed));
}
CASE(without_the_flag_the_payload_waits_for_the_operation, "GX-132 GX-133 GX-134") {
  try_all(without);
}

/* Blocking: with the call. */
CASE(blocking_puts_leave_nothing_behind, "GX-132 GX-133") {
  const gex_Rank_t to = (me + 1) % nodes;
  for (int i = 0; i < 4; ++i) {
    struct lists l;
    fill_payload(&l, to, size_of(i), 9);
    EXPECT_EQ(gex_VIS_VectorPutBlocking(team, to, 1, l.to, kPieces, l.from, 0), 0);
    spoil(&l);
    EXPECT(arrived(&l, to, 9));
    fill_payload(&l, to, size_of(i), 19);
    EXPECT_EQ(gex_VIS_IndexedPutBlocking(team, to, 1, l.to_index, kPieces * l.bytes, kPieces,
                                         l.from_index, l.bytes, 0),
              0);
    spoil(&l);
    EXPECT(arrived(&l, to, 19));
  }
}
