/* The limits of messages' payloads (GASNet-EX 0.19, "Active messages"); largest_payloads.c sends as
 * much. */
#include "../ex.h"

typedef size_t limit_of(gex_TM_t, gex_Rank_t, const gex_Event_t *, gex_Flags_t, unsigned int);
typedef size_t least_limit(void);
enum { kCalls = 4 };
static limit_of *const limits[kCalls] = {gex_AM_MaxRequestMedium, gex_AM_MaxReplyMedium,
                                         gex_AM_MaxRequestLong, gex_AM_MaxReplyLong};
static least_limit *const least[kCalls] = {gex_AM_LUBRequestMedium, gex_AM_LUBReplyMedium,
                                           gex_AM_LUBRequestLong, gex_AM_LUBReplyLong};
/* Replies take no GROUP. */
static gex_Event_t any_event;
static const gex_Event_t *const events[] = {GEX_EVENT_NOW, &any_event, NULL, GEX_EVENT_GROUP};
static int event_count(int call) { return call % 2 == 0 ? 4 : 3; }
static const gex_Flags_t flags[] = {0, GEX_FLAG_IMMEDIATE, GEX_FLAG_AM_PREPARE_LEAST_CLIENT,
                                    GEX_FLAG_AM_PREPARE_LEAST_ALLOC};
enum { kFlags = 4, kFixedFlags = 2 }; /* the first ones go with fixed payloads */

#define FOR_ALL_ARGUMENTS                                   \
  for (int call = 0; call < kCalls; ++call)                 \
    for (int event = 0; event < event_count(call); ++event) \
      for (int flag = 0; flag < kFlags; ++flag)

CASE(declarations, "GX-091") {
  unsigned int (*const args)(void) = gex_AM_MaxArgs;
  size_t (*const token_long)(gex_Token_t, const gex_Event_t *, gex_Flags_t, unsigned int) =
      gex_Token_MaxReplyLong;
  size_t (*const token_medium)(gex_Token_t, const gex_Event_t *, gex_Flags_t, unsigned int) =
      gex_Token_MaxReplyMedium;
  EXPECT(args() >= 16 && token_long != NULL && token_medium != NULL);
  for (int call = 0; call < kCalls; ++call) EXPECT(limits[call] != NULL && least[call] != NULL);
}

CASE(at_least_512_and_fewer_with_arguments, "GX-092 GX-093 GX-094") {
  FOR_ALL_ARGUMENTS {
    for (gex_Rank_t rank = 0; rank <= nodes; ++rank) {
      const gex_Rank_t other = rank < nodes ? rank : GEX_RANK_INVALID;
      size_t before = SIZE_MAX;
      for (unsigned int n = 0; n <= gex_AM_MaxArgs(); ++n) {
        const size_t now = limits[call](team, other, events[event], flags[flag], n);
        EXPECT(now >= 512 && now <= before);
        EXPECT_EQ(limits[call](team, other, events[event], flags[flag], n), now);
        before = now;
      }
    }
  }
}

CASE(no_rank_is_the_least_of_all, "GX-094") {
  FOR_ALL_ARGUMENTS {
    for (unsigned int n = 0; n <= gex_AM_MaxArgs(); ++n) {
      size_t smallest = SIZE_MAX;
      for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
        const size_t limit = limits[call](team, rank, events[event], flags[flag], n);
        if (limit < smallest) smallest = limit;
      }
      EXPECT_EQ(limits[call](team, GEX_RANK_INVALID, events[event], flags[flag], n), smallest);
    }
  }
}

/* By a team of another order, by a TM-pair: the same endpoints, the same limit. */
CASE(names_of_endpoints_do_not_matter, "GX-093") {
  gex_TM_t backwards = GEX_TM_INVALID;
  gex_TM_Split(&backwards, team, 0, -(int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  FOR_ALL_ARGUMENTS {
    for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
      const gex_Event_t *const lc = events[event];
      const size_t limit = limits[call](team, rank, lc, flags[flag], 3);
      EXPECT_EQ(limits[call](backwards, nodes - 1 - rank, lc, flags[flag], 3), limit);
      EXPECT_EQ(limits[call](gex_TM_Pair(endpoint, 0), rank, lc, flags[flag], 3), limit);
    }
  }
  gex_TM_Destroy(backwards, NULL, 0);
}

CASE(any_pointer_stands_for_an_event, "GX-095") {
  gex_Event_t other_event = GEX_EVENT_INVALID;
  for (int call = 0; call < kCalls; ++call) {
    for (int flag = 0; flag < kFlags; ++flag) {
      const size_t limit = limits[call](team, 0, NULL, flags[flag], 2);
      EXPECT_EQ(limits[call](team, 0, &any_event, flags[flag], 2), limit);
      EXPECT_EQ(limits[call](team, 0, &other_event, flags[flag], 2), limit);
    }
  }
}

CASE(lub_is_below_every_limit, "GX-097") {
  for (int call = 0; call < kCalls; ++call) {
    const size_t lub = least[call]();
    EXPECT(lub >= 512);
    EXPECT_EQ(least[call](), lub);
    for (int event = 0; event < event_count(call); ++event)
      for (int flag = 0; flag < kFixedFlags; ++flag)
        for (gex_Rank_t rank = 0; rank < nodes; ++rank)
          for (unsigned int n = 0; n <= gex_AM_MaxArgs(); ++n)
            EXPECT(lub <= limits[call](team, rank, events[event], flags[flag], n));
  }
}

CASE(lub_is_what_gasnet1_says, "GX-097") {
  const size_t request = gex_AM_LUBRequestMedium(), reply = gex_AM_LUBReplyMedium();
  EXPECT_EQ(gasnet_AMMaxMedium(), request < reply ? request : reply);
  EXPECT_EQ(gasnet_AMMaxLongRequest(), gex_AM_LUBRequestLong());
  EXPECT_EQ(gasnet_AMMaxLongReply(), gex_AM_LUBReplyLong());
  EXPECT_EQ(gasnet_AMMaxArgs(), gex_AM_MaxArgs());
}

/* ---- Of two ranks ---------------------------------------------------------------------------- */

/* limits[] of this rank with each other one, as they are told to that one. */
static void limits_with(gex_Rank_t other, int event, int flag, uint64_t *out) {
  for (int call = 0; call < kCalls; ++call)
    out[call] = limits[call](team, other, events[event], flags[flag], 5);
}

CASE(both_ends_see_the_same, "GX-093 GX-094") {
  uint64_t mine[kCalls], theirs[kCalls];
  for (int event = 0; event < 3; ++event) {
    for (int flag = 0; flag < kFlags; ++flag) {
      barrier();
      for (gex_Rank_t other = 0; other < nodes; ++other) {
        limits_with(other, event, flag, mine);
        gex_RMA_PutBlocking(team, other, part(other), mine, sizeof mine, 0);
      }
      limits_with(GEX_RANK_INVALID, event, flag, mine);
      gex_RMA_PutBlocking(team, 0, part(0) + 64, mine, sizeof mine, 0);
      barrier();
      for (gex_Rank_t other = 0; other < nodes; ++other) {
        const unsigned char *written = (unsigned char *)segments[me].addr + other * part_bytes();
        limits_with(other, event, flag, mine);
        memcpy(theirs, written, sizeof theirs);
        for (int call = 0; call < kCalls; ++call) EXPECT_EQ(theirs[call], mine[call]);
        if (me != 0) continue; /* who has the limits over all members, of everybody */
        limits_with(GEX_RANK_INVALID, event, flag, mine);
        memcpy(theirs, written + 64, sizeof theirs);
        for (int call = 0; call < kCalls; ++call) EXPECT_EQ(theirs[call], mine[call]);
      }
    }
  }
}

/* ---- All of the job's life ------------------------------------------------------------------- */

enum { kArguments = 17 };
static size_t at_first[kCalls][4][kFlags][kArguments];

static void compare_limits(int is_first) {
  FOR_ALL_ARGUMENTS {
    for (unsigned int n = 0; n < kArguments; ++n) {
      const size_t now = limits[call](team, nodes - 1, events[event], flags[flag], n);
      if (is_first) at_first[call][event][flag][n] = now;
      EXPECT_EQ(now, at_first[call][event][flag][n]);
    }
  }
}

JOB(limits_do_not_change, "GX-093", kNetwork, 0, "") {
  gex_TM_t twin = GEX_TM_INVALID;
  start_ex_job(0, 0);
  compare_limits(1);
  barrier();
  EXPECT_EQ(gex_Segment_Attach(&segment, team, 1 << 20), GASNET_OK);
  compare_limits(0);
  gex_TM_Split(&twin, team, 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  gex_Coll_BarrierBlocking(twin, 0);
  compare_limits(0);
  gex_TM_Destroy(twin, NULL, 0);
  compare_limits(0);
}
