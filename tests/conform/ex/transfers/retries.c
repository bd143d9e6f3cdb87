/* Calls with GEX_FLAG_IMMEDIATE: a poll and one retry normally do, whatever becomes of other peers
 * (GASNet-EX 0.19 with immediate.txt). */
#include "../ex.h"

enum { kMessages = 3000, kTriesMax = 2000000, kTriesPerYield = 1000, kFloodMax = 200000 };

static _Atomic int came, floods;
static void on_message(gex_Token_t token) {
  (void)token;
  ++came;
}
EX_HANDLER(on_message, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0);
static void on_flood(gex_Token_t token) {
  (void)token;
  ++floods;
}
EX_HANDLER(on_flood, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0);

/* Polls after each refusal, and lets others run now and then; says how often it was refused. */
static int send_until_taken(gex_Rank_t to) {
  static int tries_max = kTriesMax;
  int refusals = 0;
  while (gex_AM_RequestShort0(team, to, on_message_index, GEX_FLAG_IMMEDIATE) != 0) {
    if (++refusals >= tries_max) {
      const int is_taken_in_time = 0;
      EXPECT(is_taken_in_time);
      tries_max = 1; /* the others need not wait so long */
      gex_AM_RequestShort0(team, to, on_message_index, 0);
      break;
    }
    if (refusals % kTriesPerYield == 0) gasnett_sched_yield();
    gasnet_AMPoll();
  }
  return refusals;
}

/* To itself: each poll runs the handlers that hold up the next message. */
CASE(poll_and_retry_to_oneself, "GX-171") {
  int failed_retries = 0;
  came = 0;
  barrier();
  for (int i = 0; i < kMessages; ++i) failed_retries += send_until_taken(me) > 1;
  EXPECT(failed_retries <= kMessages / 10);
  AWAIT(came, kMessages);
  barrier();
  EXPECT_EQ(came, kMessages); /* none that was refused */
}

/* To everybody by turns, and all at once. */
CASE(poll_and_retry_to_everybody, "GX-171") {
  came = 0;
  barrier();
  for (int i = 0; i < kMessages; ++i) send_until_taken((me + (gex_Rank_t)i) % nodes);
  gex_Coll_BarrierBlocking(team, 0);
  barrier();
  AWAIT(came, kMessages / (int)nodes * (int)nodes);
  barrier();
  EXPECT_EQ(came, kMessages / (int)nodes * (int)nodes);
}

/* Puts and gets, too. */
CASE(poll_and_retry_of_transfers, "GX-171") {
  const gex_Rank_t to = (me + 1) % nodes;
  unsigned char bytes[600], back[600];
  for (int i = 0; i < kMessages / 10; ++i) {
    int tries = 0;
    fill(bytes, sizeof bytes, (unsigned)i);
    while (gex_RMA_PutNBI(team, to, part(to), bytes, sizeof bytes, GEX_EVENT_DEFER,
                          GEX_FLAG_IMMEDIATE) != 0 &&
           ++tries < kTriesMax)
      gasnet_AMPoll();
    gex_NBI_Wait(GEX_EC_PUT, 0);
    while (gex_RMA_GetNBI(team, back, to, part(to), sizeof back, GEX_FLAG_IMMEDIATE) != 0 &&
           ++tries < kTriesMax)
      gasnet_AMPoll();
    gex_NBI_Wait(GEX_EC_GET, 0);
    EXPECT(tries < kTriesMax && memcmp(bytes, back, sizeof back) == 0);
  }
}

/* A peer that takes nothing more does not hold up the others: this rank itself, and rank 2 if there
 * is one. */
CASE(full_peer_holds_up_nobody_else, "GX-171") {
  if (nodes < 2) NOT_HERE("one rank has no peers");
  int sent = 0;
  came = 0;
  floods = 0;
  barrier();
  if (freeze_rank_1()) {
    while (sent < kFloodMax &&
           gex_AM_RequestShort0(team, 1, on_flood_index, GEX_FLAG_IMMEDIATE) == 0)
      ++sent;
    for (int i = 0; i < 300; ++i) {
      send_until_taken(0);
      if (nodes > 2) send_until_taken(2);
      if (gex_AM_RequestShort0(team, 1, on_flood_index, GEX_FLAG_IMMEDIATE) == 0) ++sent;
    }
    AWAIT(came, 300);
    thaw_rank_1();
  }
  gex_Event_Wait(gex_Coll_BroadcastNB(team, 0, &sent, &sent, sizeof sent, 0));
  if (me == 1) AWAIT(floods, sent);
  if (me == 2) AWAIT(came, 300);
  barrier();
  if (me == 1) EXPECT_EQ(floods, sent);
}
