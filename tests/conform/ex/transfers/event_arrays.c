/* Arrays of events (GX-034, GX-035): some and all, with entries that are complete, under way, none,
 * and leaves beside their roots. */
#include "../ex.h"

enum { kEvents = 60, kBytes = 128, kRounds = 20 };
static unsigned char out[kEvents][kBytes], in[kBytes];

static int live_among(const gex_Event_t *events, size_t count) {
  int live = 0;
  for (size_t i = 0; i < count; ++i) live += events[i] != GEX_EVENT_INVALID;
  return live;
}

CASE(nothing_succeeds, "GX-033 GX-034") {
  gex_Event_t none[3] = {GEX_EVENT_INVALID, GEX_EVENT_INVALID, GEX_EVENT_INVALID};
  for (size_t count = 0; count <= 3; ++count) {
    EXPECT_EQ(gex_Event_TestSome(none, count, 0), 0);
    EXPECT_EQ(gex_Event_TestAll(none, count, 0), 0);
    gex_Event_WaitSome(none, count, 0);
    gex_Event_WaitAll(none, count, 0);
  }
  EXPECT_EQ(gex_Event_TestSome(NULL, 0, 0), 0);
  EXPECT_EQ(gex_Event_TestAll(NULL, 0, 0), 0);
  gex_Event_WaitSome(NULL, 0, 0);
  gex_Event_WaitAll(NULL, 0, 0);
  EXPECT_EQ(live_among(none, 3), 0);
}

/* How an array is synchronised to its end. */
static void by_wait_all(gex_Event_t *events, size_t count) { gex_Event_WaitAll(events, count, 0); }
static void by_test_all(gex_Event_t *events, size_t count) {
  while (gex_Event_TestAll(events, count, 0) != 0) gasnet_AMPoll();
}
/* Each success frees at least one. */
static void by_wait_some(gex_Event_t *events, size_t count) {
  for (int live = live_among(events, count), left; live != 0; live = left) {
    gex_Event_WaitSome(events, count, 0);
    left = live_among(events, count);
    EXPECT(left < live);
    if (left >= live) return;
  }
}
static void by_test_some(gex_Event_t *events, size_t count) {
  for (int live = live_among(events, count), left; live != 0; live = left) {
    while (gex_Event_TestSome(events, count, 0) != 0) gasnet_AMPoll();
    left = live_among(events, count);
    EXPECT(left < live);
    if (left >= live) return;
  }
}
static void (*const each_way[])(gex_Event_t *, size_t) = {by_wait_all, by_test_all, by_wait_some,
                                                          by_test_some};
enum { kWays = 4 };

static void expect_arrived(gex_Rank_t to, int count) {
  for (int i = 0; i < count; ++i) {
    EXPECT_EQ(gex_RMA_GetBlocking(team, in, to, part(to) + i * kBytes, kBytes, 0), 0);
    EXPECT(memcmp(in, out[i], kBytes) == 0);
  }
}

CASE(complete_entries_are_overwritten, "GX-034") {
  const gex_Rank_t to = (me + 1) % nodes;
  for (int way = 0; way < kWays; ++way) {
    gex_Event_t events[kEvents];
    for (unsigned i = 0; i < kEvents; ++i) {
      fill(out[i], kBytes, i + 10u * (unsigned)way);
      events[i] = i % 5 == 0 ? GEX_EVENT_INVALID
                             : gex_RMA_PutNB(team, to, part(to) + i * kBytes, out[i], kBytes,
                                             GEX_EVENT_DEFER, 0);
      if (i % 5 == 0) gex_RMA_PutBlocking(team, to, part(to) + i * kBytes, out[i], kBytes, 0);
    }
    each_way[way](events, kEvents);
    EXPECT_EQ(live_among(events, kEvents), 0);
    expect_arrived(to, kEvents);
  }
}

/* ---- leaves beside roots (GX-035) ------------------------------------------------------------ */

/* Puts, their roots and leaves in an order of many: next to each other, either first, or far apart.
 */
static void place_pairs(gex_Rank_t to, int order, unsigned seed, gex_Event_t *events) {
  enum { kPairs = kEvents / 2 };
  for (unsigned i = 0; i < kPairs; ++i) {
    gex_Event_t leaf = GEX_EVENT_NO_OP;
    fill(out[i], kBytes, seed + i);
    const gex_Event_t root =
        gex_RMA_PutNB(team, to, part(to) + i * kBytes, out[i], kBytes, &leaf, 0);
    const unsigned first = order < 2 ? 2 * i : i, second = order < 2    ? 2 * i + 1
                                                           : order == 2 ? kPairs + i
                                                                        : kEvents - 1 - i;
    const int root_is_first = order == 0 || (order > 1 && i % 2);
    events[first] = root_is_first ? root : leaf;
    events[second] = root_is_first ? leaf : root;
  }
}
CASE(leaves_beside_their_roots, "GX-031 GX-035") {
  for (unsigned round = 0; round < kRounds; ++round)
    for (int order = 0; order < 4; ++order) {
      gex_Event_t events[kEvents];
      const gex_Rank_t to = (me + round) % nodes;
      place_pairs(to, order, round, events);
      each_way[(round + (unsigned)order) % kWays](events, kEvents);
      EXPECT_EQ(live_among(events, kEvents), 0);
      expect_arrived(to, kEvents / 2);
    }
}

/* Roots of regions and of puts, with leaves that are asked for. */
CASE(leaves_of_regions_beside_their_roots, "GX-035 GX-038") {
  const gex_Rank_t to = (me + 1) % nodes;
  for (int way = 0; way < kWays; ++way)
    for (int root_is_first = 0; root_is_first < 2; ++root_is_first) {
      gex_Event_t events[2];
      gex_NBI_BeginAccessRegion(0);
      for (unsigned i = 0; i < 10; ++i) {
        fill(out[i], kBytes, i + (unsigned)way);
        gex_RMA_PutNBI(team, to, part(to) + i * kBytes, out[i], kBytes, GEX_EVENT_GROUP, 0);
      }
      events[!root_is_first] = gex_NBI_EndAccessRegion(0);
      events[root_is_first] = gex_Event_QueryLeaf(events[!root_is_first], GEX_EC_LC);
      each_way[way](events, 2);
      EXPECT_EQ(live_among(events, 2), 0);
      expect_arrived(to, 10);
    }
}

/* ---- while rank 1 makes no GASNet call ------------------------------------------------------- */

CASE(what_is_under_way_stays, "GX-034") {
  SOMETHING_STAYS_UNDER_WAY();
  if (freeze_rank_1()) {
    gex_Event_t events[4] = {GEX_EVENT_INVALID, GEX_EVENT_INVALID, GEX_EVENT_INVALID,
                             GEX_EVENT_INVALID};
    const gex_Event_t put = gex_RMA_PutNB(team, 1, part(1), out[0], kBytes, GEX_EVENT_DEFER, 0);
    const gex_Event_t get = gex_RMA_GetNB(team, in, 1, part(1) + kBytes, kBytes, 0);
    events[1] = put;
    events[3] = get;
    for (int i = 0; i < 50; ++i) {
      EXPECT(gex_Event_TestAll(events, 4, 0) != 0);
      EXPECT(gex_Event_TestSome(events, 4, 0) != 0);
      EXPECT(events[1] == put && events[3] == get);
      gasnet_AMPoll();
    }
    thaw_rank_1();
    gex_Event_WaitAll(events, 4, 0);
    EXPECT_EQ(live_among(events, 4), 0);
  }
}

/* One that is complete, and was not when it began, is enough for some, and not for all. */
CASE(one_complete_entry_is_some, "GX-034") {
  gex_Event_t events[3] = {GEX_EVENT_INVALID, GEX_EVENT_INVALID, GEX_EVENT_INVALID};
  SOMETHING_STAYS_UNDER_WAY();
  barrier();
  if (me == 0)
    events[2] = gex_RMA_PutNB(team, 1, part(1) + kBytes, out[1], kBytes, GEX_EVENT_DEFER, 0);
  if (freeze_rank_1()) {
    const gex_Event_t put = gex_RMA_PutNB(team, 1, part(1), out[0], kBytes, GEX_EVENT_DEFER, 0);
    events[0] = put;
    gex_Event_WaitSome(events, 3, 0);
    EXPECT(events[0] == put && events[2] == GEX_EVENT_INVALID);
    EXPECT(gex_Event_TestAll(events, 3, 0) != 0);
    EXPECT(events[0] == put);
    thaw_rank_1();
    gex_Event_WaitSome(events, 3, 0);
    EXPECT_EQ(live_among(events, 3), 0);
  }
}
