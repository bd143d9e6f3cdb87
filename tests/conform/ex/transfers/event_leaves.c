/* Leaves of explicit operations (GX-031, GX-037, GX-038). An incomplete operation is seen while
 * rank 1 makes no GASNet call. */
#include "../ex.h"

enum { kBlock = 256, kLarge = 200000, kRounds = 300 };
static unsigned char out[kLarge], in[kLarge];

/* A leaf may be synchronised or not; its root's end is its own. */
CASE(a_root_takes_its_leaves_along, "GX-031 GX-037") {
  const gex_Rank_t to = (me + 1) % nodes;
  for (unsigned i = 0; i < kRounds; ++i) {
    gex_Event_t leaf = GEX_EVENT_NO_OP;
    fill(out, kBlock, i);
    const gex_Event_t root = gex_RMA_PutNB(team, to, part(to), out, kBlock, &leaf, 0);
    EXPECT(leaf != GEX_EVENT_NO_OP && root != GEX_EVENT_NO_OP);
    if (i % 3 == 0) gex_Event_Wait(leaf);
    if (i % 3 == 1)
      while (gex_Event_Test(leaf) != 0) gasnet_AMPoll();
    if (i % 3 != 2) memset(out, 0, kBlock);
    gex_Event_Wait(root);
    EXPECT_EQ(gex_RMA_GetBlocking(team, in, to, part(to), kBlock, 0), 0);
    EXPECT(holds(in, kBlock, i));
  }
}

CASE(a_leaf_is_not_its_root, "GX-031 GX-037 GX-038") {
  SOMETHING_STAYS_UNDER_WAY();
  if (freeze_rank_1()) {
    gex_Event_t leaf = GEX_EVENT_NO_OP, asked;
    const gex_Event_t root = gex_RMA_PutNB(team, 1, part(1), out, kBlock, &leaf, 0);
    asked = gex_Event_QueryLeaf(root, GEX_EC_LC);
    EXPECT(asked != GEX_EVENT_NO_OP && asked != root);
    for (int i = 0; i < 3; ++i) EXPECT(gex_Event_QueryLeaf(root, GEX_EC_LC) == asked);
    for (int i = 0; i < 100; ++i) {
      if (leaf != GEX_EVENT_INVALID && gex_Event_Test(leaf) == 0) leaf = GEX_EVENT_INVALID;
      EXPECT(gex_Event_Test(root) != 0);
      gasnet_AMPoll();
    }
    thaw_rank_1();
    gex_Event_Wait(root);
  }
}

CASE(leaf_of_a_complete_root, "GX-038") {
  const gex_Event_t leaf = gex_Event_QueryLeaf(GEX_EVENT_INVALID, GEX_EC_LC);
  EXPECT_EQ(gex_Event_Test(leaf), 0);
  gex_Event_Wait(leaf);
}

CASE(a_leaf_is_asked_for, "GX-038") {
  const gex_Rank_t to = (me + 1) % nodes;
  for (unsigned i = 0; i < 20; ++i) {
    gex_Event_t leaf;
    fill(out, kLarge, i);
    const gex_Event_t root = gex_RMA_PutNB(team, to, part(to), out, kLarge, &leaf, 0);
    const gex_Event_t asked = gex_Event_QueryLeaf(root, GEX_EC_LC);
    EXPECT(gex_Event_QueryLeaf(root, GEX_EC_LC) == asked);
    gex_Event_Wait(asked);
    memset(out, 0xee, kLarge);
    gex_Event_Wait(root);
    gex_RMA_GetBlocking(team, in, to, part(to), kLarge, 0);
    EXPECT(holds(in, kLarge, i));
  }
}
