/* The GASNet-EX API on the team of gex_Client_Init: objects, handlers, messages, puts, gets, events, limits, before and
 * after the segments are there (GX-006...GX-130). */
#include <gasnetex.h>

#include "job_test.h"

enum { kPieces = 64, kPieceBytes = 3000, kLargeBytes = 300000 };

static gex_Client_t client;
static gex_EP_t endpoint;
static gex_TM_t team;
static gex_Rank_t ranks;
static gex_AM_Index_t on_short_index, on_payload_index, on_reply_index;
static volatile int requests, replies;
static int requests_due, replies_due; /* all-to-all: as many come as go */
static unsigned char *local;
static gex_AM_Entry_t table[4];

static gex_Rank_t check_token(gex_Token_t token, int is_req, int is_long, gex_AM_Index_t index) {
  gex_Token_Info_t info;
  EXPECT_EQ(gex_Token_Info(token, &info, GEX_TI_ALL), GEX_TI_ALL);
  EXPECT(info.gex_srcrank < ranks && info.gex_ep == endpoint);
  EXPECT_EQ(info.gex_is_req != 0, is_req);
  if (is_long >= 0) EXPECT_EQ(info.gex_is_long != 0, is_long);
  EXPECT_EQ(info.gex_entry->gex_index, index);
  EXPECT(info.gex_entry->gex_cdata == &table[0]);
  return info.gex_srcrank;
}
static void on_short(gex_Token_t token, gex_AM_Arg_t a, gex_AM_Arg_t b) {
  check_token(token, 1, 0, on_short_index);
  EXPECT(b <= a);
  ++requests;
  gex_AM_ReplyShort1(token, on_reply_index, 0, a);
}
static void on_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed) {
  gex_Event_t done = GEX_EVENT_NO_OP;
  check_token(token, 1, -1, on_payload_index);
  EXPECT(holds(buf, nbytes, (unsigned)seed));
  EXPECT_EQ(gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, 1), gex_AM_LUBReplyMedium());
  ++requests;
  gex_AM_ReplyMedium(token, table[3].gex_index, buf, nbytes < 512 ? nbytes : 512, &done, 0, seed);
  EXPECT(done == GEX_EVENT_INVALID);
}
static void on_reply(gex_Token_t token, gex_AM_Arg_t a) {
  check_token(token, 0, 0, on_reply_index);
  EXPECT(a == 7 || a == 5 || a < 50);
  ++replies;
}
static void on_reply_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed) {
  check_token(token, 0, 0, table[3].gex_index);
  EXPECT(holds(buf, nbytes, (unsigned)seed));
  ++replies;
}

/* GX-085...090 */
static void register_all(void) {
  const gex_AM_Entry_t entries[] = {
      {0, (gex_AM_Fn_t)on_short, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 2, &table[0], "on_short"},
      {0, (gex_AM_Fn_t)on_payload, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 1, &table[0], "on_payload"},
      {GEX_AM_INDEX_BASE + 1, (gex_AM_Fn_t)on_reply, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 1, &table[0], "on_reply"},
      {0, (gex_AM_Fn_t)on_reply_payload, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 1, &table[0], NULL}};
  memcpy(table, entries, sizeof entries);
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, table, 2), GASNET_OK);
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, table + 2, 2), GASNET_OK);
  EXPECT(table[0].gex_index == 255 && table[1].gex_index == 254 && table[2].gex_index == GEX_AM_INDEX_BASE + 1);
  EXPECT_EQ(table[3].gex_index, 253);
  on_short_index = table[0].gex_index;
  on_payload_index = table[1].gex_index;
  on_reply_index = table[2].gex_index;
  gex_System_SetVerboseErrors(0);
  gex_AM_Entry_t bad = table[2];
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, &bad, 1), GASNET_ERR_BAD_ARG); /* taken */
  bad.gex_index = GEX_AM_INDEX_BASE - 1;
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, &bad, 1), GASNET_ERR_BAD_ARG);
  bad.gex_index = 0;
  bad.gex_flags = GEX_FLAG_AM_SHORT;
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, &bad, 1), GASNET_ERR_BAD_ARG);
  bad.gex_flags = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST;
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, &bad, 1), GASNET_ERR_BAD_ARG);
  gex_System_SetVerboseErrors(1);
}

/* GX-052...061, GX-068, GX-164...167 */
static void check_objects(void) {
  gex_Client_t c = GEX_CLIENT_INVALID;
  gex_EP_t ep = GEX_EP_INVALID;
  gex_TM_t tm = GEX_TM_INVALID;
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  gasnet_QueryGexObjects(&c, &ep, &tm, &segment);
  EXPECT(c == client && ep == endpoint && tm == team && segment == GEX_SEGMENT_INVALID);
  EXPECT(gex_TM_QueryClient(team) == client && gex_EP_QueryClient(endpoint) == client && gex_TM_QueryEP(team) == endpoint);
  EXPECT(gex_EP_QuerySegment(endpoint) == GEX_SEGMENT_INVALID);
  EXPECT_EQ(gex_EP_QueryIndex(endpoint), 0);
  EXPECT_EQ(strcmp(gex_Client_QueryName(client), "EX_JOB"), 0);
  EXPECT_EQ(gex_Client_QueryFlags(client), GEX_FLAG_DEFER_THREADS);
  EXPECT(gex_Client_QueryCData(client) == NULL && gex_EP_QueryCData(endpoint) == NULL && gex_TM_QueryCData(team) == NULL);
  gex_Client_SetCData(client, &client);
  gex_EP_SetCData(endpoint, &endpoint);
  gex_TM_SetCData(team, &team);
  EXPECT(gex_Client_QueryCData(client) == &client && gex_EP_QueryCData(endpoint) == &endpoint && gex_TM_QueryCData(team) == &team);
  EXPECT(gex_System_QueryJobRank() == me && gex_System_QueryJobSize() == ranks);
  for (gex_Rank_t rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(gex_TM_TranslateRankToJobrank(team, rank), rank);
    EXPECT_EQ(gex_TM_TranslateJobrankToRank(team, rank), rank);
    EXPECT(gex_TM_TranslateRankToEP(team, rank, 0).gex_rank == rank && gex_TM_TranslateRankToEP(team, rank, 0).gex_ep_index == 0);
  }
  gex_RankInfo_t *near, *host;
  gex_Rank_t near_count, near_index, host_count, host_index, near_sets, near_set, host_sets, host_set;
  gex_System_QueryNbrhdInfo(&near, &near_count, &near_index);
  gex_System_QueryHostInfo(&host, &host_count, &host_index);
  gex_System_QueryMyPosition(&near_sets, &near_set, &host_sets, &host_set);
  EXPECT(near_index < near_count && near[near_index].gex_jobrank == me && near_set < near_sets);
  EXPECT(host_index < host_count && host[host_index].gex_jobrank == me && host_set < host_sets);
  EXPECT(near_count <= host_count && host_sets <= near_sets);
  for (gex_Rank_t i = 1; i < host_count; ++i) EXPECT(host[i - 1].gex_jobrank < host[i].gex_jobrank);
  gex_System_QueryNbrhdInfo(NULL, NULL, NULL);
  gex_System_QueryMyPosition(NULL, NULL, NULL, NULL);
  EXPECT(gex_System_QueryMaxThreads() >= 1);
  unsigned int threads = 99;
  const gex_ProgressThreadInfo_t *info = (const gex_ProgressThreadInfo_t *)&threads;
  EXPECT_EQ(gex_System_QueryProgressThreads(client, &threads, &info, 0), GASNET_OK);
  EXPECT(threads == 0 || info != NULL);
  gex_System_SetVerboseErrors(0);
  EXPECT_EQ(gex_System_QueryProgressThreads(client, &threads, NULL, 0), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gex_System_QueryProgressThreads(client, &threads, &info, 1), GASNET_ERR_BAD_ARG);
  gex_System_SetVerboseErrors(1);
}

/* GX-091...110; messages need no segment, but Longs with a payload do. */
static void exchange_messages(int has_segments) {
  EXPECT(gex_AM_MaxArgs() >= 16);
  EXPECT(gex_AM_LUBRequestMedium() >= 512 && gex_AM_MaxReplyMedium(team, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 16) >= 512);
  EXPECT(gex_AM_MaxRequestLong(team, 0, GEX_EVENT_NOW, 0, 16) >= 512 && gex_AM_LUBReplyLong() >= 512);
  for (gex_Rank_t to = 0; to < ranks; ++to) {
    gex_Event_t done = GEX_EVENT_NO_OP;
    EXPECT_EQ(gex_AM_RequestShort(team, to, on_short_index, 0, 7, 3), 0);
    EXPECT_EQ(gex_AM_RequestShort2(team, to, on_short_index, 0, 5, 5), 0);
    fill(local, 512, to);
    EXPECT_EQ(gex_AM_RequestMedium(team, to, on_payload_index, local, 512, GEX_EVENT_NOW, 0, (gex_AM_Arg_t)to), 0);
    EXPECT_EQ(gex_AM_RequestMedium1(team, to, on_payload_index, local, 100, GEX_EVENT_GROUP, 0, (gex_AM_Arg_t)to), 0);
    EXPECT_EQ(gex_AM_RequestLong(team, to, on_payload_index, local, 0, local, &done, 0, (gex_AM_Arg_t)to), 0);
    gex_Event_Wait(done);
    gex_NBI_Wait(GEX_EC_AM, 0);
    requests_due += 5, replies_due += 5;
    if (!has_segments) continue;
    void *theirs;
    uintptr_t bytes;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, to, &theirs, NULL, &bytes, 0));
    EXPECT(bytes >= kLargeBytes);
    done = GEX_EVENT_NO_OP;
    EXPECT_EQ(gex_AM_RequestLong1(team, to, on_payload_index, local, 500, (char *)theirs + me * 1024, &done, 0, (gex_AM_Arg_t)to), 0);
    while (gex_Event_Test(done) != GASNET_OK) gasnet_AMPoll();
    ++requests_due, ++replies_due;
  }
  GASNET_BLOCKUNTIL(requests == requests_due && replies == replies_due);
  barrier();
}

#ifndef GASNET_SEGMENT_EVERYTHING
/* The hook stores its arguments: it is called before the segment is pinned (docs/CLIENTS.md). */
static gasnet_seginfo_t hooked;
static void on_attach(void *base, uintptr_t bytes) {
  hooked.addr = memset(base, 0, bytes);
  hooked.size += bytes;
}

/* GX-062...066, GX-076...079 */
static void attach(void) {
  unsigned char *my_base;
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  uintptr_t size = 0;
  EXPECT(gex_Segment_QueryBound(team, me, NULL, NULL, &size) != 0);
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, me, NULL, NULL, &size, GEX_FLAG_IMMEDIATE));
  EXPECT_EQ(size, 0);
  gex_System_SetVerboseErrors(0);
  EXPECT_EQ(gex_Segment_Attach(&segment, team, 0), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gex_Segment_Attach(&segment, team, GASNET_PAGESIZE + 1), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gex_Segment_Attach(&segment, GEX_TM_INVALID, GASNET_PAGESIZE), GASNET_ERR_BAD_ARG);
  gex_System_SetVerboseErrors(1);
  /* A rank that comes late has its question answered meanwhile. */
  if (me == 0) requests_due += 50;
  if (me == ranks - 1) {
    replies_due += 50;
    for (int i = 0; i < 50; ++i) gex_AM_RequestShort2(team, 0, on_short_index, 0, i, i);
    GASNET_BLOCKUNTIL(replies == replies_due);
  }
  gasnet_client_attach_hook = on_attach;
  EXPECT_EQ(gex_Segment_Attach(&segment, team, 4 << 20), GASNET_OK);
  EXPECT(hooked.size == 4 << 20 && hooked.addr == gex_Segment_QueryAddr(segment));
  EXPECT(segment != GEX_SEGMENT_INVALID && gex_EP_QuerySegment(endpoint) == segment && gex_Segment_QueryClient(segment) == client);
  EXPECT_EQ(gex_Segment_QuerySize(segment), 4 << 20);
  EXPECT(gex_Segment_QueryCData(segment) == NULL);
  my_base = gex_Segment_QueryAddr(segment);
  gasnet_seginfo_t all[64];
  EXPECT_EQ(gasnet_getSegmentInfo(all, 64), GASNET_OK);
  for (gex_Rank_t rank = 0; rank < ranks; ++rank) {
    void *owner = NULL, *here = NULL;
    EXPECT_EQ(gex_Segment_QueryBound(team, rank, &owner, &here, &size), 0);
    EXPECT(owner == all[rank].addr && size == all[rank].size);
    if (rank == me) EXPECT(owner == my_base && here == my_base);
    if (here != NULL) ((volatile unsigned char *)here)[size - 1 - me] = 0;
  }
  barrier();
}

static unsigned char *base_of(gex_Rank_t rank) {
  void *owner = NULL;
  gex_Segment_QueryBound(team, rank, &owner, NULL, NULL);
  return owner;
}

/* GX-030...040, GX-123...130: each rank writes to its own half MiB of its right neighbour's, and reads it back. */
static void put_and_get(void) {
  const gex_Rank_t to = (me + 1) % ranks;
  unsigned char *theirs = base_of(to) + (1 << 20);
  gex_Event_t roots[2 * kPieces], leaf;
  fill(local, kLargeBytes, me);
  EXPECT_EQ(gex_RMA_PutBlocking(team, to, theirs, local, kLargeBytes, 0), 0);
  memset(local + kLargeBytes, 0, kLargeBytes);
  EXPECT_EQ(gex_RMA_GetBlocking(team, local + kLargeBytes, to, theirs, kLargeBytes, 0), 0);
  EXPECT(holds(local + kLargeBytes, kLargeBytes, me));

  /* NOW: the source is free at once. */
  for (int i = 0; i < kPieces; ++i) {
    fill(local, kPieceBytes, 100 + (unsigned)i);
    roots[i] = gex_RMA_PutNB(team, to, theirs + i * kPieceBytes, local, kPieceBytes, GEX_EVENT_NOW, 0);
    if (roots[i] != GEX_EVENT_INVALID) EXPECT_EQ(gex_Event_Test(gex_Event_QueryLeaf(roots[i], GEX_EC_LC)), GASNET_OK);
  }
  gex_Event_WaitAll(roots, kPieces, 0);
  for (int i = 0; i < kPieces; ++i)
    roots[i] = gex_RMA_GetNB(team, local + i * kPieceBytes, to, theirs + i * kPieceBytes, kPieceBytes, 0);
  do gasnet_AMPoll(); while (gex_Event_TestAll(roots, kPieces, 0) != GASNET_OK);
  for (int i = 0; i < kPieces; ++i) EXPECT(holds(local + i * kPieceBytes, kPieceBytes, 100 + (unsigned)i));

  /* An event for it: before the root, or in one array with it. */
  fill(local, kLargeBytes, 77);
  gex_Event_t root = gex_RMA_PutNB(team, to, theirs, local, kLargeBytes, &leaf, 0);
  const gex_Event_t asked = root == GEX_EVENT_INVALID ? GEX_EVENT_INVALID : gex_Event_QueryLeaf(root, GEX_EC_LC); /* GX-038 */
  gex_Event_Wait(leaf);
  EXPECT_EQ(gex_Event_Test(asked), GASNET_OK);
  memset(local, 0, kLargeBytes);
  gex_Event_Wait(root);
  for (int i = 0; i < kPieces; ++i) {
    fill(local + i * kPieceBytes, kPieceBytes, 200 + (unsigned)i);
    roots[2 * i] = gex_RMA_PutNB(team, to, theirs + i * kPieceBytes, local + i * kPieceBytes, kPieceBytes, &roots[2 * i + 1], 0);
    if (i % 2) {
      const gex_Event_t other = roots[2 * i];
      roots[2 * i] = roots[2 * i + 1];
      roots[2 * i + 1] = other;
    }
  }
  for (int left = 1; left;) {
    gex_Event_WaitSome(roots, 2 * kPieces, 0);
    left = 0;
    for (int i = 0; i < 2 * kPieces; ++i) left += roots[i] != GEX_EVENT_INVALID;
  }
  gex_Event_WaitAll(roots, 2 * kPieces, 0);

  /* Implicit, alone and in a region. */
  for (int i = 0; i < kPieces; ++i) gex_RMA_GetNBI(team, local + i * kPieceBytes, to, theirs + i * kPieceBytes, kPieceBytes, 0);
  gex_NBI_Wait(GEX_EC_GET, 0);
  for (int i = 0; i < kPieces; ++i) EXPECT(holds(local + i * kPieceBytes, kPieceBytes, 200 + (unsigned)i));
  gex_NBI_BeginAccessRegion(0);
  for (int i = 0; i < kPieces; ++i) gex_RMA_PutNBI(team, to, theirs + i * kPieceBytes, local, kPieceBytes, i % 2 ? GEX_EVENT_GROUP : GEX_EVENT_DEFER, 0);
  root = gex_NBI_EndAccessRegion(0);
  leaf = gex_Event_QueryLeaf(root, GEX_EC_LC);
  EXPECT(leaf == gex_Event_QueryLeaf(root, GEX_EC_LC));
  EXPECT_EQ(gex_NBI_Test(GEX_EC_ALL, 0), GASNET_OK);
  gex_Event_Wait(leaf);
  gex_Event_Wait(root);
  gex_RMA_PutNBI(team, to, theirs, local, kPieceBytes, GEX_EVENT_NOW, to != me ? GEX_FLAG_PEER_NEVER_SELF : 0); /* GX-045 */
  while (gex_NBI_Test(GEX_EC_PUT | GEX_EC_LC, 0) != GASNET_OK) gasnet_AMPoll();
  gex_RMA_GetBlocking(team, local + kLargeBytes, to, theirs + (kPieces - 1) * kPieceBytes, kPieceBytes, 0);
  EXPECT(holds(local + kLargeBytes, kPieceBytes, 200));

  for (size_t bytes = 1; bytes <= SIZEOF_GEX_RMA_VALUE_T; ++bytes) {
    const gex_RMA_Value_t value = 0x1122334455667788u + me, low = bytes == 8 ? value : value & ((1ull << 8 * bytes) - 1);
    gex_RMA_PutBlockingVal(team, to, theirs, value, bytes, 0);
    gex_RMA_PutNBIVal(team, to, theirs + 8, value, bytes, 0);
    gex_Event_Wait(gex_RMA_PutNBVal(team, to, theirs + 16, value, bytes, 0));
    gex_NBI_Wait(GEX_EC_PUT, 0);
    for (int at = 0; at < 24; at += 8) EXPECT(gex_RMA_GetBlockingVal(team, to, theirs + at, bytes, 0) == low);
  }
  barrier();
}
#endif

int main(int argc, char **argv) {
  EXPECT_EQ(gex_System_GetVerboseErrors(), 1);
  gex_System_SetVerboseErrors(0);
  EXPECT_EQ(gex_Client_Init(&client, &endpoint, &team, "", &argc, &argv, 0), GASNET_ERR_BAD_ARG);
  if (gex_Client_Init(&client, &endpoint, &team, "EX_JOB", &argc, &argv, GEX_FLAG_DEFER_THREADS) != GASNET_OK) return 3;
  EXPECT_EQ(gex_Client_Init(&client, &endpoint, &team, "EX_JOB", &argc, &argv, 0), GASNET_ERR_NOT_INIT);
  gex_System_SetVerboseErrors(1);
  me = gex_TM_QueryRank(team);
  nodes = ranks = gex_TM_QuerySize(team);
  local = malloc(2 * kLargeBytes);
  check_objects();
  register_all();
  barrier();
  exchange_messages(0);
#ifdef GASNET_SEGMENT_EVERYTHING
  gex_Segment_t segment;
  EXPECT_EQ(gex_Segment_Attach(&segment, team, 0), GASNET_OK);
  EXPECT(segment == GEX_SEGMENT_INVALID);
  exchange_messages(0);
#else
  attach();
  exchange_messages(1);
  put_and_get();
#endif
  end_job("ex");
}
