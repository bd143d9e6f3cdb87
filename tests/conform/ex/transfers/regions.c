/* Access regions of implicit operations (GX-039): their roots and leaves (GX-031, GX-035, GX-038).
 */
#include "../ex.h"

enum { kBytes = 300, kPieces = 12, kLarge = 60000 };
static unsigned char out[kPieces][kBytes], in[kPieces][kBytes], large[kLarge], back[kLarge];

static void expect_there(gex_Rank_t to, unsigned seed) {
  static unsigned char got[kBytes];
  for (unsigned i = 0; i < kPieces; ++i) {
    gex_RMA_GetBlocking(team, got, to, part(to) + i * kBytes, kBytes, 0);
    EXPECT(holds(got, kBytes, seed + i));
  }
}
static void start_puts(gex_Rank_t to, unsigned seed, gex_Event_t *lc_opt) {
  for (unsigned i = 0; i < kPieces; ++i) {
    fill(out[i], kBytes, seed + i);
    EXPECT_EQ(gex_RMA_PutNBI(team, to, part(to) + i * kBytes, out[i], kBytes, lc_opt, 0), 0);
  }
}

CASE(an_empty_region_is_complete, "GX-038 GX-039") {
  for (int i = 0; i < 50; ++i) {
    gex_NBI_BeginAccessRegion(0);
    const gex_Event_t root = gex_NBI_EndAccessRegion(0);
    EXPECT(root != GEX_EVENT_NO_OP);
    EXPECT_EQ(gex_Event_Test(gex_Event_QueryLeaf(root, GEX_EC_LC)), 0);
    if (i % 2)
      gex_Event_Wait(root);
    else
      EXPECT_EQ(gex_Event_Test(root), 0);
  }
}

/* One root for all of it; what is begun outside is not in it. */
CASE(a_root_for_puts_and_gets, "GX-031 GX-039") {
  for (unsigned i = 0; i < 4 * nodes; ++i) {
    const gex_Rank_t to = (me + i) % nodes;
    gex_NBI_BeginAccessRegion(0);
    start_puts(to, i, GEX_EVENT_DEFER);
    gex_Event_Wait(gex_NBI_EndAccessRegion(0));
    memset(in, 0, sizeof in);
    gex_NBI_BeginAccessRegion(0);
    for (unsigned p = 0; p < kPieces; ++p)
      EXPECT_EQ(gex_RMA_GetNBI(team, in[p], to, part(to) + p * kBytes, kBytes, 0), 0);
    const gex_Event_t root = gex_NBI_EndAccessRegion(0);
    EXPECT_EQ(gex_NBI_Test(GEX_EC_ALL, 0), 0);
    while (gex_Event_Test(root) != 0) gasnet_AMPoll();
    for (unsigned p = 0; p < kPieces; ++p) EXPECT(holds(in[p], kBytes, i + p));
  }
}

/* Explicit operations may be begun and synchronised in a region. */
CASE(explicit_operations_inside, "GX-039") {
  const gex_Rank_t to = (me + 1) % nodes;
  gex_NBI_BeginAccessRegion(0);
  start_puts(to, 70, GEX_EVENT_DEFER);
  gex_RMA_PutBlockingVal(team, to, part(to) + kPieces * kBytes, 5, 1, 0);
  EXPECT(gex_RMA_GetBlockingVal(team, to, part(to) + kPieces * kBytes, 1, 0) == 5);
  fill(large, kBytes, 3);
  gex_Event_Wait(gex_RMA_PutNB(team, to, part(to) + 8192, large, kBytes, GEX_EVENT_NOW, 0));
  gex_Event_Wait(gex_NBI_EndAccessRegion(0));
  expect_there(to, 70);
}

/* The leaf, asked for often, is synchronised in both ways before the root. That the sources are
 * free after it: local_completion.c. */
CASE(leaf_of_a_region_of_puts, "GX-036 GX-037 GX-038 GX-039") {
  for (unsigned i = 0; i < 20; ++i) {
    const gex_Rank_t to = (me + i) % nodes;
    gex_NBI_BeginAccessRegion(0);
    start_puts(to, i, GEX_EVENT_GROUP);
    fill(large, kLarge, i);
    gex_RMA_PutNBI(team, to, part(to) + 8192, large, kLarge, GEX_EVENT_GROUP, 0);
    const gex_Event_t root = gex_NBI_EndAccessRegion(0),
                      leaf = gex_Event_QueryLeaf(root, GEX_EC_LC);
    for (int again = 0; again < 3; ++again) EXPECT(gex_Event_QueryLeaf(root, GEX_EC_LC) == leaf);
    EXPECT(root == GEX_EVENT_INVALID || leaf != root);
    EXPECT_EQ(gex_NBI_Test(GEX_EC_LC, 0), 0); /* the region's, not the thread's */
    if (i % 2) gex_Event_Wait(leaf);
    while (i % 2 == 0 && gex_Event_Test(leaf) != 0) gasnet_AMPoll();
    memset(out, 0xaa, sizeof out);
    memset(large, 0xaa, sizeof large);
    gex_Event_Wait(root);
    expect_there(to, i);
    gex_RMA_GetBlocking(team, back, to, part(to) + 8192, kLarge, 0);
    EXPECT(holds(back, kLarge, i));
  }
}

static _Atomic int arrived;
static void on_message(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed) {
  (void)token;
  EXPECT_FIRST(arrived > 100000);
  EXPECT(nbytes == kLarge && holds(buf, nbytes, (unsigned)seed));
  ++arrived;
}
EX_HANDLER(on_message, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_LONG, 1);

/* The region has the local completion of messages. */
CASE(messages_in_a_region, "GX-036 GX-039") {
  const gex_Rank_t to = (me + 1) % nodes;
  arrived = 0;
  barrier();
  for (int i = 0; i < 10; ++i) {
    fill(large, kLarge, (unsigned)i);
    gex_NBI_BeginAccessRegion(0);
    gex_AM_RequestLong1(team, to, on_message_index, large, kLarge, part(to) + i * kLarge,
                        GEX_EVENT_GROUP, 0, i);
    const gex_Event_t root = gex_NBI_EndAccessRegion(0);
    gex_NBI_Wait(GEX_EC_AM, 0); /* none of it */
    if (i % 2) gex_Event_Wait(gex_Event_QueryLeaf(root, GEX_EC_AM));
    if (i % 2) memset(large, 0, kLarge);
    gex_Event_Wait(root);
    memset(large, 0, kLarge);
  }
  AWAIT(arrived, 10);
  barrier();
}

/* Several at once, synchronised in another order than they were begun. */
CASE(several_regions, "GX-039") {
  enum { kRegions = 6 };
  static unsigned char sources[kRegions][kBytes];
  gex_Event_t roots[kRegions];
  const gex_Rank_t to = (me + 1) % nodes;
  for (unsigned r = 0; r < kRegions; ++r) {
    fill(sources[r], kBytes, 30 + r);
    gex_NBI_BeginAccessRegion(0);
    gex_RMA_PutNBI(team, to, part(to) + r * kBytes, sources[r], kBytes, GEX_EVENT_DEFER, 0);
    roots[r] = gex_NBI_EndAccessRegion(0);
  }
  for (unsigned r = kRegions; r-- > 0;) {
    gex_Event_Wait(roots[r]);
    gex_RMA_GetBlocking(team, back, to, part(to) + r * kBytes, kBytes, 0);
    EXPECT(holds(back, kBytes, 30 + r));
  }
}

/* ---- while rank 1 makes no GASNet call ------------------------------------------------------- */

CASE(a_region_is_apart_from_the_implicit_set, "GX-036 GX-039") {
  SOMETHING_STAYS_UNDER_WAY();
  if (freeze_rank_1()) {
    gex_NBI_BeginAccessRegion(0);
    gex_RMA_PutNBI(team, 1, part(1), out[0], kBytes, GEX_EVENT_DEFER, 0);
    gex_RMA_GetNBI(team, in[0], 1, part(1) + kBytes, kBytes, 0);
    const gex_Event_t root = gex_NBI_EndAccessRegion(0);
    for (int i = 0; i < 20; ++i) {
      gex_NBI_Wait(GEX_EC_ALL, 0);
      EXPECT(gex_Event_Test(root) != 0);
    }
    thaw_rank_1();
    gex_Event_Wait(root);
  }
  if (freeze_rank_1()) {
    gex_RMA_PutNBI(team, 1, part(1), out[0], kBytes, GEX_EVENT_DEFER, 0); /* before it */
    gex_NBI_BeginAccessRegion(0);
    gex_Event_Wait(gex_NBI_EndAccessRegion(0));
    EXPECT(gex_NBI_Test(GEX_EC_PUT, 0) != 0);
    thaw_rank_1();
    gex_NBI_Wait(GEX_EC_PUT, 0);
  }
}
CASE(the_leaf_is_not_the_root, "GX-031 GX-038 GX-039") {
  SOMETHING_STAYS_UNDER_WAY();
  if (freeze_rank_1()) {
    gex_NBI_BeginAccessRegion(0);
    gex_RMA_PutNBI(team, 1, part(1), out[0], kBytes, GEX_EVENT_GROUP, 0);
    const gex_Event_t root = gex_NBI_EndAccessRegion(0),
                      leaf = gex_Event_QueryLeaf(root, GEX_EC_LC);
    EXPECT(root != GEX_EVENT_INVALID && leaf != root && leaf != GEX_EVENT_NO_OP);
    (void)gex_Event_Test(leaf);
    EXPECT(gex_Event_Test(root) != 0);
    thaw_rank_1();
    gex_Event_Wait(root);
  }
}
