/* Active messages with negotiated payloads: from the client's memory and from the library's, of every size, whole or in
 * part, given up or refused; and that what is written into the library's buffer for a Medium is not copied
 * (GX-091...097, GX-111...121). */
#include <gasnetex.h>

#include "../job_test.h"

enum { kRounds = 150, kTries = 50, kSegmentBytes = 4 << 20 };

static gex_Client_t client;
static gex_EP_t endpoint;
static gex_TM_t team;
static gex_Rank_t ranks, to;
static volatile int received, answered;
static int due, refused_prepares, refused_commits;
static unsigned char *theirs, *requesters; /* segments: of the next rank, and of the one before, whose next this is */
static gex_AM_Index_t on_request_index, on_reply_index, on_many_index;

/* The reply takes half of what came, or less, from the library's buffer or its own. */
static void on_request(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed, gex_AM_Arg_t bytes) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_ALL);
  EXPECT_EQ(nbytes, bytes);
  EXPECT(holds(buf, nbytes, (unsigned)seed));
  if (!info.gex_is_long) EXPECT((uintptr_t)buf % 8 == 0);
  __sync_fetch_and_add(&received, 1);
  const size_t half = nbytes / 2;
  gex_AM_SrcDesc_t sd;
  if (seed % 4 == 0) {
    gex_Event_t done = GEX_EVENT_NO_OP;
    fill(buf, half, (unsigned)seed + 1);
    sd = gex_AM_PrepareReplyMedium(token, buf, half, half, seed % 8 == 0 ? GEX_EVENT_NOW : &done, 0, 1);
    EXPECT(gex_AM_SrcDescAddr(sd) == buf && gex_AM_SrcDescSize(sd) == half);
    if (half > gex_AM_LUBReplyMedium()) fail_at(__FILE__, __LINE__, "a Medium of %zu", half);
    gex_AM_CommitReplyMedium1(sd, on_reply_index, half, seed + 1);
    return;
  }
  if (seed % 4 == 1) {
    sd = gex_AM_PrepareReplyMedium(token, NULL, 0, half, NULL, 0, 1);
    EXPECT_EQ(gex_AM_CancelReplyMedium(sd, 0), 0);
  }
  if (seed % 4 == 3) {
    sd = gex_AM_PrepareReplyLong(token, NULL, half, half, (void *)0, NULL, 0, 1);
    fill(gex_AM_SrcDescAddr(sd), half, (unsigned)seed + 1);
    gex_AM_CommitReplyLong(sd, on_reply_index, half, requesters + (2 << 20) + seed * 8192, seed + 1);
    return;
  }
  sd = gex_AM_PrepareReplyMedium(token, NULL, half, half + 10, NULL, GEX_FLAG_IMMEDIATE, 1);
  if (sd == GEX_AM_SRCDESC_NO_OP) {
    __sync_fetch_and_add(&refused_prepares, 1);
    sd = gex_AM_PrepareReplyMedium(token, NULL, half, half + 10, NULL, 0, 1);
  }
  EXPECT(gex_AM_SrcDescSize(sd) >= half && gex_AM_SrcDescSize(sd) <= half + 10);
  fill(gex_AM_SrcDescAddr(sd), half, (unsigned)seed + 1);
  for (int tries = 0; tries < kTries; ++tries) {
    if (gex_AM_CommitReplyMedium1_v2(sd, on_reply_index, half, GEX_FLAG_IMMEDIATE, seed + 1) == 0) return;
    __sync_fetch_and_add(&refused_commits, 1);
    EXPECT(holds(gex_AM_SrcDescAddr(sd), half, (unsigned)seed + 1));
  }
  gex_AM_CommitReplyMedium1(sd, on_reply_index, half, seed + 1);
}
static void on_reply(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed) {
  (void)token;
  EXPECT(holds(buf, nbytes, (unsigned)seed));
  __sync_fetch_and_add(&answered, 1);
}
static void on_many(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1, gex_AM_Arg_t a2, gex_AM_Arg_t a3,
                    gex_AM_Arg_t a4, gex_AM_Arg_t a5, gex_AM_Arg_t a6, gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9, gex_AM_Arg_t a10,
                    gex_AM_Arg_t a11, gex_AM_Arg_t a12, gex_AM_Arg_t a13, gex_AM_Arg_t a14, gex_AM_Arg_t a15) {
  (void)token;
  EXPECT(holds(buf, nbytes, 99));
  EXPECT(a0 == 1 && a1 == 2 && a2 == 3 && a3 == 4 && a4 == 5 && a5 == 6 && a6 == 7 && a7 == 8);
  EXPECT(a8 == 9 && a9 == 10 && a10 == 11 && a11 == 12 && a12 == 13 && a13 == 14 && a14 == 15 && a15 == 16);
  __sync_fetch_and_add(&received, 1);
  __sync_fetch_and_add(&answered, 1); /* nobody replies */
}

static void wait_for_all(void) { GASNET_BLOCKUNTIL(read_now(&received) >= due && read_now(&answered) >= due); }

/* The client computes between Prepare and Commit, and writes less than it was granted. */
static void library_mediums(size_t limit) {
  for (int i = 0; i < kRounds; ++i) {
    const size_t wanted = (size_t)i * 97 % limit, bytes = i % 5 ? wanted : wanted / 2;
    gex_AM_SrcDesc_t sd;
    while ((sd = gex_AM_PrepareRequestMedium(team, to, NULL, wanted, 10 * limit, NULL, i % 2 ? GEX_FLAG_IMMEDIATE : 0, 2)) == GEX_AM_SRCDESC_NO_OP) {
      EXPECT(i % 2);
      __sync_fetch_and_add(&refused_prepares, 1);
      gasnet_AMPoll();
    }
    EXPECT(gex_AM_SrcDescSize(sd) >= wanted && gex_AM_SrcDescSize(sd) <= 10 * limit);
    EXPECT_EQ((uintptr_t)gex_AM_SrcDescAddr(sd) % 16, 0);
    memset(gex_AM_SrcDescAddr(sd), 1, gex_AM_SrcDescSize(sd));
    if (i % 7 == 3) {
      EXPECT_EQ(gex_AM_CancelRequestMedium(sd, 0), 0);
      continue;
    }
    fill(gex_AM_SrcDescAddr(sd), bytes, (unsigned)i);
    if (i % 3) {
      gex_AM_CommitRequestMedium(sd, on_request_index, bytes, i, (gex_AM_Arg_t)bytes);
    } else {
      int tries = 0; /* no poll between, so the peer may never make room */
      while (tries < kTries && gex_AM_CommitRequestMedium_v2(sd, on_request_index, bytes, GEX_FLAG_IMMEDIATE, i, (gex_AM_Arg_t)bytes)) ++tries;
      __sync_fetch_and_add(&refused_commits, tries);
      if (tries == kTries) gex_AM_CommitRequestMedium(sd, on_request_index, bytes, i, (gex_AM_Arg_t)bytes);
    }
    ++due;
  }
  wait_for_all();
  barrier();
}

static void client_mediums(size_t limit) {
  unsigned char *source = malloc(limit);
  for (int i = 0; i < kRounds; ++i) {
    const size_t bytes = (size_t)i * 89 % limit;
    gex_Event_t done = GEX_EVENT_NO_OP;
    gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(team, to, source, bytes, limit, i % 3 == 0 ? GEX_EVENT_NOW : i % 3 == 1 ? GEX_EVENT_GROUP : &done,
                                                      GEX_FLAG_IMMEDIATE, 2);
    EXPECT(gex_AM_SrcDescAddr(sd) == source && gex_AM_SrcDescSize(sd) >= bytes && gex_AM_SrcDescSize(sd) <= limit);
    fill(source, bytes, (unsigned)i);
    gex_AM_CommitRequestMedium2(sd, on_request_index, bytes, i, (gex_AM_Arg_t)bytes);
    if (i % 3 == 1) gex_NBI_Wait(GEX_EC_AM, 0);
    if (i % 3 == 2) gex_Event_Wait(done);
    ++due;
  }
  wait_for_all();
  free(source);
  barrier();
}

static void longs(size_t medium) {
  const size_t limit = 2 * medium;
  unsigned char *source = malloc(1 << 20);
  for (int i = 0; i < 40; ++i) {
    gex_Event_t done = GEX_EVENT_INVALID;
    const int is_own = i % 2, is_late = i % 4 >= 2;
    const size_t bytes = (size_t)i * 401 % limit;
    unsigned char *dest = theirs;
    gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestLong(team, to, is_own ? source : NULL, bytes, 1 << 19, is_late ? NULL : dest, is_own ? &done : NULL, 0, 2);
    EXPECT(gex_AM_SrcDescSize(sd) >= bytes && gex_AM_SrcDescSize(sd) <= 1 << 19);
    if (i == 17) {
      EXPECT_EQ(gex_AM_CancelRequestLong(sd, 0), 0);
      continue;
    }
    fill(gex_AM_SrcDescAddr(sd), bytes, (unsigned)i);
    if (i % 8 != 7 || gex_AM_CommitRequestLong2_v2(sd, on_request_index, bytes, dest, GEX_FLAG_IMMEDIATE, i, (gex_AM_Arg_t)bytes) != 0)
      gex_AM_CommitRequestLong2(sd, on_request_index, bytes, dest, i, (gex_AM_Arg_t)bytes);
    gex_Event_Wait(done);
    ++due;
    wait_for_all(); /* the next goes where this went */
  }
  barrier();
  gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(team, to, NULL, 100, 100, NULL, 0, 16);
  fill(gex_AM_SrcDescAddr(sd), 100, 99);
  gex_AM_CommitRequestMedium(sd, on_many_index, 100, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
  ++due;
  wait_for_all();
  free(source);
  barrier();
}

static void limits(void) {
  const gex_Event_t any = GEX_EVENT_INVALID;
  const gex_Event_t *const lc[] = {GEX_EVENT_NOW, GEX_EVENT_GROUP, &any, NULL};
  const gex_Flags_t flags[] = {0, GEX_FLAG_IMMEDIATE, GEX_FLAG_AM_PREPARE_LEAST_CLIENT, GEX_FLAG_AM_PREPARE_LEAST_ALLOC};
  for (int l = 0; l < 4; ++l)
    for (int f = 0; f < 4; ++f) {
      size_t last[4] = {(size_t)-1, (size_t)-1, (size_t)-1, (size_t)-1};
      for (unsigned args = 0; args <= gex_AM_MaxArgs(); ++args) {
        const size_t max[] = {gex_AM_MaxRequestMedium(team, to, lc[l], flags[f], args), gex_AM_MaxReplyMedium(team, to, lc[l], flags[f], args),
                              gex_AM_MaxRequestLong(team, to, lc[l], flags[f], args), gex_AM_MaxReplyLong(team, to, lc[l], flags[f], args)};
        const size_t lub[] = {gex_AM_LUBRequestMedium(), gex_AM_LUBReplyMedium(), gex_AM_LUBRequestLong(), gex_AM_LUBReplyLong()};
        for (int k = 0; k < 4; ++k) {
          EXPECT(max[k] >= 512 && max[k] <= last[k] && (f > 1 || max[k] >= lub[k]));
          last[k] = max[k];
        }
        EXPECT(max[2] >= max[0] || f < 3);
        EXPECT_EQ(gex_AM_MaxRequestLong(team, GEX_RANK_INVALID, lc[l], flags[f], args), max[2]);
      }
    }
}

int main(int argc, char **argv) {
  gex_AM_Entry_t table[] = {{0, (gex_AM_Fn_t)on_request, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 2, NULL, "on_request"},
                            {0, (gex_AM_Fn_t)on_reply, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY, 1, NULL, "on_reply"},
                            {0, (gex_AM_Fn_t)on_many, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 16, NULL, "on_many"}};
  gex_Segment_t segment;
  if (gex_Client_Init(&client, &endpoint, &team, "NP", &argc, &argv, 0) != GASNET_OK) return 3;
  me = gex_TM_QueryRank(team);
  nodes = ranks = gex_TM_QuerySize(team);
  to = (me + 1) % ranks;
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, table, 3), GASNET_OK);
  on_request_index = table[0].gex_index, on_reply_index = table[1].gex_index, on_many_index = table[2].gex_index;
  EXPECT_EQ(gex_Segment_Attach(&segment, team, kSegmentBytes), GASNET_OK);
  EXPECT_EQ(gex_Segment_QueryBound(team, to, (void **)&theirs, NULL, NULL), 0);
  EXPECT_EQ(gex_Segment_QueryBound(team, (me + ranks - 1) % ranks, (void **)&requesters, NULL, NULL), 0);
  barrier(); /* handlers want to know */
  limits();
  const size_t limit = gex_AM_MaxRequestMedium(team, to, NULL, GEX_FLAG_AM_PREPARE_LEAST_ALLOC, 2);
  library_mediums(limit);
  client_mediums(limit);
  longs(limit);
  if (getenv("REFUSALS") != NULL) EXPECT(refused_prepares > 0 && refused_commits > 0);
  if (me == 0) printf("np: limit %zu, refused %d prepares, %d commits\n", limit, refused_prepares, refused_commits);
  end_job("np");
}
