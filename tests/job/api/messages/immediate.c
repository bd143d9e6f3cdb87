/* GEX_FLAG_IMMEDIATE, and the local completion of messages: what is refused has done nothing, what is not arrives
 * once and whole; and there are refusals (GX-043, GX-103, GX-104, GX-110, GX-124, GX-125, GX-170, GX-171). */
#include <gasnetex.h>

#include <time.h>

#include "../job_test.h"

enum { kRounds = 200, kBytes = 700, kLargeBytes = 200000, kSlotBytes = 1 << 20 };

static gex_Client_t client;
static gex_EP_t endpoint;
static gex_TM_t team;
static gex_Rank_t ranks, to;
static volatile int shorts, payloads, answers, floods;
static int refused[16], done_at_once[16];
static int refused_replies;
static unsigned char *local, *mine, *theirs;
static gex_AM_Index_t on_short_index, on_payload_index, on_answer_index, on_flood_index, on_bulk_index;

static void answer(gex_Token_t token, gex_AM_Arg_t seed) {
  if (gex_AM_ReplyShort1(token, on_answer_index, GEX_FLAG_IMMEDIATE, seed) == 0) return;
  __sync_fetch_and_add(&refused_replies, 1);
  gex_AM_ReplyShort1(token, on_answer_index, 0, seed);
}
static void on_short(gex_Token_t token, gex_AM_Arg_t seed) {
  __sync_fetch_and_add(&shorts, 1); /* some in the library's thread */
  answer(token, seed);
}
static void on_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed) {
  EXPECT(holds(buf, nbytes, (unsigned)seed));
  __sync_fetch_and_add(&payloads, 1);
  answer(token, seed);
}
static void on_bulk(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed) {
  on_payload(token, buf, nbytes, seed);
}
static void on_answer(gex_Token_t token, gex_AM_Arg_t seed) {
  (void)token, (void)seed;
  __sync_fetch_and_add(&answers, 1);
}
static void on_flood(gex_Token_t token) {
  (void)token;
  __sync_fetch_and_add(&floods, 1);
}

/* The duty of the client by GX-171. */
static int again(int is_refused, int kind) {
  if (!is_refused) {
    ++done_at_once[kind];
    return 0;
  }
  ++refused[kind];
  gasnet_AMPoll();
  return 1;
}

static void messages(void) {
  const gex_Flags_t now = GEX_FLAG_IMMEDIATE;
  for (int i = 0; i < kRounds; ++i) {
    gex_Event_t done = GEX_EVENT_NO_OP;
    while (again(gex_AM_RequestShort1(team, to, on_short_index, now, i), 0)) {}
    fill(local, kBytes, (unsigned)i);
    while (again(gex_AM_RequestMedium1(team, to, on_payload_index, local, kBytes, GEX_EVENT_NOW, now, i), 1)) {}
    while (again(gex_AM_RequestMedium1(team, to, on_payload_index, local, kBytes, &done, now, i), 2)) EXPECT(done == GEX_EVENT_NO_OP);
    gex_Event_Wait(done);
    while (again(gex_AM_RequestLong1(team, to, on_payload_index, local, kBytes, theirs + i * kBytes, GEX_EVENT_GROUP, now, i), 3)) {}
    gex_NBI_Wait(GEX_EC_AM, 0);
    memset(local, 0, kBytes);
  }
  GASNET_BLOCKUNTIL(read_now(&shorts) == kRounds && read_now(&payloads) == 3 * kRounds && read_now(&answers) == 4 * kRounds);
  barrier();
  EXPECT(read_now(&shorts) == kRounds && read_now(&payloads) == 3 * kRounds); /* no more than that */
  barrier();
}

/* Puts and gets: what a no-op leaves alone is what was there. */
static void transfers(void) {
  const gex_Flags_t now = GEX_FLAG_IMMEDIATE;
  for (int i = 0; i < kRounds; ++i) {
    gex_Event_t root, leaf = GEX_EVENT_NO_OP;
    unsigned char *there = theirs + (i % 50) * kBytes;
    fill(local, kBytes, 1000 + (unsigned)i);
    while (again((root = gex_RMA_PutNB(team, to, there, local, kBytes, &leaf, now)) == GEX_EVENT_NO_OP, 4)) EXPECT(leaf == GEX_EVENT_NO_OP);
    gex_Event_Wait(leaf);
    gex_Event_Wait(root);
    while (again(gex_RMA_GetBlocking(team, local + kBytes, to, there, kBytes, now), 5)) {}
    EXPECT(holds(local + kBytes, kBytes, 1000 + (unsigned)i));
    fill(local, kBytes, 2000 + (unsigned)i);
    while (again(gex_RMA_PutNBI(team, to, there, local, kBytes, i % 2 ? GEX_EVENT_GROUP : GEX_EVENT_NOW, now), 6)) {}
    gex_NBI_Wait(GEX_EC_LC, 0);
    memset(local, 0, kBytes);
    gex_NBI_Wait(GEX_EC_PUT, 0);
    while (again(gex_RMA_GetNBI(team, local, to, there, kBytes, now), 7)) {}
    gex_NBI_Wait(GEX_EC_GET, 0);
    EXPECT(holds(local, kBytes, 2000 + (unsigned)i));
    fill(local, kBytes, 3000 + (unsigned)i);
    while (again(gex_RMA_PutBlocking(team, to, there, local, kBytes, now), 8)) {}
    while (again((root = gex_RMA_GetNB(team, local + kBytes, to, there, kBytes, now)) == GEX_EVENT_NO_OP, 9)) {}
    gex_Event_Wait(root);
    EXPECT(holds(local + kBytes, kBytes, 3000 + (unsigned)i));
    while (again(gex_RMA_PutBlockingVal(team, to, there, 77u + (unsigned)i, 4, now), 10)) {}
    EXPECT_EQ(gex_RMA_GetBlockingVal(team, to, there, 4, now), 77u + (unsigned)i);
    while (again(gex_RMA_PutNBIVal(team, to, there, 78u + (unsigned)i, 8, now), 11)) {}
    gex_NBI_Wait(GEX_EC_PUT, 0);
    while (again((root = gex_RMA_PutNBVal(team, to, there + 8, 79, 8, now)) == GEX_EVENT_NO_OP, 12)) {}
    gex_Event_Wait(root);
    EXPECT_EQ(gex_RMA_GetBlockingVal(team, to, there, 8, now) + gex_RMA_GetBlockingVal(team, to, there + 8, 8, 0), 157u + (unsigned)i);
  }
  fill(local, kLargeBytes, 9);
  while (again(gex_RMA_PutBlocking(team, to, theirs, local, kLargeBytes, now), 13)) {}
  memset(local, 0, kLargeBytes);
  while (again(gex_RMA_GetBlocking(team, local, to, theirs, kLargeBytes, now), 14)) {}
  EXPECT(holds(local, kLargeBytes, 9));
  barrier();
}

/* A large Long is sent from where it lies: the event, or GEX_EC_AM, tells when that is free. */
static int local_completions(void) {
  unsigned char *const sources[] = {local, mine + kSlotBytes};
  int pending = 0;
  const int before = 3 * kRounds, answered = 4 * kRounds; /* of messages(); the peer may be ahead */
  for (int i = 0; i < 40; ++i) {
    unsigned char *source = sources[i % 2];
    gex_Event_t done = GEX_EVENT_NO_OP;
    fill(source, kLargeBytes, (unsigned)i);
    const int is_group = i % 4 >= 2;
    gex_AM_RequestLong1(team, to, on_bulk_index, source, kLargeBytes, theirs, is_group ? GEX_EVENT_GROUP : &done, 0, i);
    if (is_group) {
      pending += gex_NBI_Test(GEX_EC_AM, 0) != GASNET_OK;
      gex_NBI_Wait(GEX_EC_AM, 0);
    } else {
      pending += done != GEX_EVENT_INVALID;
      gex_Event_Wait(done);
    }
    memset(source, 0, kLargeBytes);
    GASNET_BLOCKUNTIL(read_now(&answers) == answered + i + 1); /* the next one goes where this one went */
  }
  GASNET_BLOCKUNTIL(read_now(&payloads) >= before + 40);
  gex_NBI_BeginAccessRegion(0);
  fill(local, kLargeBytes, 5);
  gex_AM_RequestLong1(team, to, on_bulk_index, local, kLargeBytes, theirs, GEX_EVENT_GROUP, 0, 5);
  gex_Event_Wait(gex_NBI_EndAccessRegion(0));
  memset(local, 0, kLargeBytes);
  GASNET_BLOCKUNTIL(read_now(&payloads) >= before + 41 && read_now(&answers) == answered + 41);
  barrier();
  return pending;
}

/* To a peer that does not look: the room ends, and nothing waits for it. Returns whether it did. */
static int flood(void) {
  int sent = 0, is_full = 0;
  barrier();
  if (me == 1) {
    const struct timespec nap = {0, 300000000};
    nanosleep(&nap, NULL);
  } else if (me == 0) {
    while (sent < 1000000 && !is_full) {
      if (gex_AM_RequestShort0(team, 1, on_flood_index, GEX_FLAG_IMMEDIATE) == 0)
        ++sent;
      else
        is_full = 1;
    }
    gex_AM_RequestShort1(team, 1, on_short_index, 0, sent);
  }
  barrier();
  return is_full;
}

int main(int argc, char **argv) {
  gex_AM_Entry_t table[] = {{0, (gex_AM_Fn_t)on_short, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, "on_short"},
                            {0, (gex_AM_Fn_t)on_payload, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 1, NULL, "on_payload"},
                            {0, (gex_AM_Fn_t)on_answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 1, NULL, "on_answer"},
                            {0, (gex_AM_Fn_t)on_flood, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "on_flood"},
                            {0, (gex_AM_Fn_t)on_bulk, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 1, NULL, "on_bulk"}};
  gex_Segment_t segment;
  const char *refusals = getenv("REFUSALS"), *driver = getenv("GASNET_DRIVER"); /* "some": there must be */
  if (gex_Client_Init(&client, &endpoint, &team, "IMMEDIATE", &argc, &argv, 0) != GASNET_OK) return 3;
  me = gex_TM_QueryRank(team);
  nodes = ranks = gex_TM_QuerySize(team);
  to = (me + 1) % ranks;
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, table, 5), GASNET_OK);
  on_short_index = table[0].gex_index, on_payload_index = table[1].gex_index, on_answer_index = table[2].gex_index;
  on_flood_index = table[3].gex_index, on_bulk_index = table[4].gex_index;
  EXPECT_EQ(gex_Segment_Attach(&segment, team, 2 * kSlotBytes), GASNET_OK);
  mine = gex_Segment_QueryAddr(segment);
  EXPECT_EQ(gex_Segment_QueryBound(team, to, (void **)&theirs, NULL, NULL), 0);
  local = malloc(2 * kLargeBytes);
  messages();
  transfers();
  const int pending = local_completions();
  const int is_full = ranks > 1 && flood();
  int refused_all = refused_replies;
  for (int kind = 0; kind < 15; ++kind) {
    EXPECT(done_at_once[kind] > 0);
    refused_all += refused[kind];
    if (refusals != NULL && strcmp(refusals, "some") == 0 && kind < 4) EXPECT(refused[kind] > 0);
  }
  /* shm copies, and puts are the client's own copies; over Ethernet nothing large is copied. */
  const int is_direct = driver != NULL && strcmp(driver, "shm") == 0;
  if (is_direct) EXPECT_EQ(pending, 0);
  if (!is_direct && getenv("GASNET_FAULTS") == NULL) EXPECT(pending > 0);
  if (refusals != NULL && !is_direct && strcmp(refusals, "some") == 0)
    for (int kind = 4; kind < 13; ++kind) EXPECT(refused[kind] > 0);
  if (me == 0 && refusals != NULL) EXPECT(is_full);
  if (me == 0) printf("immediate: %d refusals, %d pending\n", refused_all, pending);
  end_job("immediate");
}
