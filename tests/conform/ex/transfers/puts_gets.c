/* Puts and gets: what they return, local completion, GEX_FLAG_IMMEDIATE (GASNet-EX 0.19, "Remote
 * Memory Access"). */
#include "../ex.h"

enum { kMost = 200000, kWords = 3000 };

static unsigned char local[kMost + 16], back[kMost + 16];

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
/* From all alignments; none too large for what one rank may write. */
static const size_t sizes[] = {0, 1, 2, 3, 7, 8, 13, 64, 511, 4096, 9001, 65536, kMost};
enum { kSizes = sizeof sizes / sizeof *sizes };
static size_t size_of(int i) { return least(sizes[i], part_bytes() / 2 - 16); }

/* The bytes there, read by a blocking get. */
static int there_is(gex_Rank_t rank, void *at, size_t bytes, unsigned seed) {
  memset(back, 0xee, bytes);
  EXPECT_EQ(gex_RMA_GetBlocking(team, back, rank, at, bytes, 0), 0);
  return holds(back, bytes, seed);
}

/* ---- Local completion of puts (GX-125), and results (GX-124) --------------------------------- */

enum { kNbNow, kNbDefer, kNbEvent, kNbBoth, kNbiNow, kNbiDefer, kNbiGroup, kWays };

/* Its source is overwritten as soon as it may be. */
static void put_nb(int way, gex_Rank_t to, void *at, unsigned char *from, size_t bytes) {
  gex_Event_t leaf = GEX_EVENT_NO_OP;
  gex_Event_t *const lc_opt = way == kNbNow     ? GEX_EVENT_NOW
                              : way == kNbDefer ? GEX_EVENT_DEFER
                                                : &leaf;
  const gex_Event_t root = gex_RMA_PutNB(team, to, at, from, bytes, lc_opt, 0);
  EXPECT(root != GEX_EVENT_NO_OP);
  if (lc_opt == &leaf) EXPECT(leaf != GEX_EVENT_NO_OP);
  if (way == kNbNow) memset(from, 0xdd, bytes);
  if (way == kNbEvent) {
    gex_Event_Wait(leaf);
    memset(from, 0xdd, bytes);
  }
  if (way == kNbBoth) { /* the root first: its leaf is in the same array */
    gex_Event_t both[] = {root, leaf};
    gex_Event_WaitAll(both, 2, 0);
  } else {
    gex_Event_Wait(root);
  }
  memset(from, 0xdd, bytes);
}
static void put_nbi(int way, gex_Rank_t to, void *at, unsigned char *from, size_t bytes) {
  gex_Event_t *const lc_opt = way == kNbiNow     ? GEX_EVENT_NOW
                              : way == kNbiDefer ? GEX_EVENT_DEFER
                                                 : GEX_EVENT_GROUP;
  EXPECT_EQ(gex_RMA_PutNBI(team, to, at, from, bytes, lc_opt, 0), 0);
  if (way == kNbiNow) memset(from, 0xdd, bytes);
  if (way == kNbiGroup) {
    gex_NBI_Wait(GEX_EC_LC, 0);
    memset(from, 0xdd, bytes);
  }
  gex_NBI_Wait(GEX_EC_PUT, 0);
  memset(from, 0xdd, bytes);
}

CASE(puts_are_locally_complete_as_lc_opt_says, "GX-124 GX-125") {
  for (gex_Rank_t k = 0; k < nodes; ++k) {
    const gex_Rank_t to = (me + k) % nodes;
    for (int way = 0; way < kWays; ++way) {
      for (int i = 0; i < kSizes; ++i) {
        const unsigned seed = 3 * me + (unsigned)(way + i);
        unsigned char *const from = local + (way + i) % 8;
        void *const at = part(to) + i % 5;
        fill(from, size_of(i), seed);
        if (way < kNbiNow)
          put_nb(way, to, at, from, size_of(i));
        else
          put_nbi(way, to, at, from, size_of(i));
        EXPECT(there_is(to, at, size_of(i), seed));
      }
    }
  }
}

/* Several at once in each category; GEX_EC_LC frees the sources, GEX_EC_PUT says that all is there.
 */
CASE(groups_of_puts_gather_in_gex_ec_lc, "GX-125 GX-129") {
  enum { kPuts = 30, kEach = 4000 };
  for (gex_Rank_t k = 0; k < nodes; ++k) {
    const gex_Rank_t to = (me + k) % nodes;
    for (int i = 0; i < kPuts; ++i) {
      fill(local + i * kEach, kEach, (unsigned)i + k);
      EXPECT_EQ(gex_RMA_PutNBI(team, to, part(to) + i * kEach, local + i * kEach, kEach,
                               GEX_EVENT_GROUP, 0),
                0);
    }
    while (gex_NBI_Test(GEX_EC_LC, 0) != GASNET_OK) gasnet_AMPoll();
    memset(local, 0xdd, kPuts * kEach);
    while (gex_NBI_Test(GEX_EC_PUT, 0) != GASNET_OK) gasnet_AMPoll();
    for (int i = 0; i < kPuts; ++i)
      EXPECT(there_is(to, part(to) + i * kEach, kEach, (unsigned)i + k));
  }
}

CASE(blocking_calls_and_gets, "GX-124 GX-129") {
  for (gex_Rank_t k = 0; k < nodes; ++k) {
    const gex_Rank_t to = (me + k) % nodes;
    for (int i = 0; i < kSizes; ++i) {
      const size_t bytes = size_of(i);
      unsigned char *const at = part(to) + 1, *const into = local + i % 8;
      fill(into, bytes, (unsigned)i + k);
      EXPECT_EQ(gex_RMA_PutBlocking(team, to, at, into, bytes, 0), 0);
      for (int form = 0; form < 3; ++form) {
        memset(into, 0xee, bytes);
        if (form == 0) EXPECT_EQ(gex_RMA_GetBlocking(team, into, to, at, bytes, 0), 0);
        if (form == 1) EXPECT_EQ(gex_RMA_GetNBI(team, into, to, at, bytes, 0), 0);
        if (form == 1) gex_NBI_Wait(GEX_EC_GET, 0);
        if (form == 2) {
          const gex_Event_t event = gex_RMA_GetNB(team, into, to, at, bytes, 0);
          EXPECT(event != GEX_EVENT_NO_OP);
          gex_Event_Wait(event);
        }
        EXPECT(holds(into, bytes, (unsigned)i + k));
      }
    }
  }
}

/* ---- GEX_FLAG_IMMEDIATE ---------------------------------------------------------------------- */

/* Puts i by form i % 3; whether it was not refused. */
static int put_word(uint32_t *at, const uint32_t *from, int i, gex_Event_t *events) {
  if (i % 3 == 0) {
    events[i] = gex_RMA_PutNB(team, 1, at, from, sizeof *from, GEX_EVENT_DEFER, GEX_FLAG_IMMEDIATE);
    if (events[i] != GEX_EVENT_NO_OP) return 1;
    events[i] = GEX_EVENT_INVALID;
    return 0;
  }
  return gex_RMA_PutNBI(team, 1, at, from, sizeof *from,
                        i % 3 == 1 ? GEX_EVENT_DEFER : GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE) == 0;
}

/* To a rank that makes no call. */
CASE(refused_puts_change_nothing, "GX-124") {
  static uint32_t words[kWords], found[kWords];
  static gex_Event_t events[kWords];
  static char is_sent[kWords];
  if (nodes < 2) NOT_HERE("one rank has nobody to wait for");
  uint32_t *const there = (uint32_t *)part(1);
  memset(words, 0, sizeof words);
  if (me == 0) EXPECT_EQ(gex_RMA_PutBlocking(team, 1, there, words, sizeof words, 0), 0);
  if (freeze_rank_1()) {
    for (int i = 0; i < kWords; ++i) {
      words[i] = 0x80000000u + (uint32_t)i;
      is_sent[i] = (char)put_word(there + i, words + i, i, events);
    }
    thaw_rank_1();
    gex_Event_WaitAll(events, kWords, 0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
    EXPECT_EQ(gex_RMA_GetBlocking(team, found, 1, there, sizeof found, 0), 0);
    for (int i = 0; i < kWords; ++i) EXPECT_EQ(found[i], is_sent[i] ? words[i] : 0);
  }
}

/* Until it was done; an event of local completion counts only then. */
CASE(immediate_calls_are_done_or_say_so, "GX-124 GX-125") {
  const gex_Flags_t now = GEX_FLAG_IMMEDIATE;
  for (gex_Rank_t k = 0; k < nodes; ++k) {
    const gex_Rank_t to = (me + k) % nodes;
    for (int i = 0; i < kSizes; ++i) {
      const size_t bytes = size_of(i);
      gex_Event_t root, leaf;
      fill(local, bytes, (unsigned)i);
      while ((root = gex_RMA_PutNB(team, to, part(to), local, bytes, &leaf, now)) ==
             GEX_EVENT_NO_OP)
        gasnet_AMPoll();
      gex_Event_Wait(leaf);
      memset(local, 0xdd, bytes);
      gex_Event_Wait(root);
      while ((root = gex_RMA_GetNB(team, local, to, part(to), bytes, now)) == GEX_EVENT_NO_OP)
        gasnet_AMPoll();
      gex_Event_Wait(root);
      EXPECT(holds(local, bytes, (unsigned)i));
      fill(local, bytes, 50 + (unsigned)i);
      while (gex_RMA_PutBlocking(team, to, part(to), local, bytes, now) != 0) gasnet_AMPoll();
      memset(local, 0xdd, bytes);
      while (gex_RMA_GetNBI(team, local, to, part(to), bytes, now) != 0) gasnet_AMPoll();
      gex_NBI_Wait(GEX_EC_GET, 0);
      EXPECT(holds(local, bytes, 50 + (unsigned)i));
      fill(local, bytes, 90 + (unsigned)i);
      while (gex_RMA_PutNBI(team, to, part(to), local, bytes, GEX_EVENT_GROUP, now) != 0)
        gasnet_AMPoll();
      gex_NBI_Wait(GEX_EC_LC, 0);
      memset(local, 0xdd, bytes);
      gex_NBI_Wait(GEX_EC_PUT, 0);
      while (gex_RMA_GetBlocking(team, local, to, part(to), bytes, now) != 0) gasnet_AMPoll();
      EXPECT(holds(local, bytes, 90 + (unsigned)i));
    }
  }
}
