/* Clients of both APIs (GX-006 to GX-013): each in a job of its own, begun by either. */
#include "../ex.h"

#define START_GASNET1() EXPECT_EQ(gasnet_init(&program_argc, &program_argv), GASNET_OK)

static int client_init(gex_Flags_t flags) {
  gex_Client_t c;
  gex_EP_t ep;
  gex_TM_t tm;
  return gex_Client_Init(&c, &ep, &tm, "CONFORM", &program_argc, &program_argv, flags);
}

/* ---- by one API, once ------------------------------------------------------------------------ */

JOB(client_init_after_init, "GX-006 GX-007", kLocal, 0, "") {
  START_GASNET1();
  gex_System_SetVerboseErrors(0);
  EXPECT(client_init(0) != GASNET_OK);
  EXPECT_EQ(gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0), GASNET_OK);
  EXPECT(client_init(0) != GASNET_OK);
  EXPECT(client_init(GEX_FLAG_USES_GASNET1) != GASNET_OK);
}
JOB(init_after_client_init, "GX-006 GX-007", kLocal, 0, "") {
  start_ex_job(0, GASNET_PAGESIZE);
  gex_System_SetVerboseErrors(0);
  EXPECT(gasnet_init(&program_argc, &program_argv) != GASNET_OK);
  EXPECT(client_init(GEX_FLAG_USES_GASNET1) != GASNET_OK); /* one client of GASNet-1 at most */
}
JOB(init_beside_a_client_of_gasnet1, "GX-006 GX-007", kLocal, 0, "") {
  start_ex_job(GEX_FLAG_USES_GASNET1, GASNET_PAGESIZE);
  EXPECT(gex_Client_QueryFlags(client) & GEX_FLAG_USES_GASNET1);
  gex_System_SetVerboseErrors(0);
  EXPECT(gasnet_init(&program_argc, &program_argv) != GASNET_OK);
  EXPECT(client_init(GEX_FLAG_USES_GASNET1) != GASNET_OK);
}

/* ---- the objects (GX-008) -------------------------------------------------------------------- */

JOB(objects_of_client_init, "GX-008", kLocal, 0, "") {
  gex_Client_t c = GEX_CLIENT_INVALID;
  gex_EP_t ep = GEX_EP_INVALID;
  gex_TM_t tm = GEX_TM_INVALID;
  gex_Segment_t mine = GEX_SEGMENT_INVALID;
  start_ex_job(GEX_FLAG_USES_GASNET1, 0);
  gasnet_QueryGexObjects(NULL, NULL, NULL, NULL);
  gasnet_QueryGexObjects(&c, NULL, NULL, &mine);
  EXPECT(c == client && mine == GEX_SEGMENT_INVALID);
  EXPECT_EQ(gex_Segment_Attach(&segment, team, GASNET_PAGESIZE), GASNET_OK);
  gasnet_QueryGexObjects(NULL, &ep, NULL, NULL);
  gasnet_QueryGexObjects(NULL, NULL, &tm, NULL);
  gasnet_QueryGexObjects(NULL, NULL, NULL, &mine);
  EXPECT(ep == endpoint && tm == team && mine == segment && mine != GEX_SEGMENT_INVALID);
}

static void start_by_gasnet1(gasnet_handlerentry_t *table, int entries, uintptr_t heap_offset) {
  START_GASNET1();
  EXPECT_EQ(gasnet_attach(table, entries, kSegmentBytes, heap_offset), GASNET_OK);
  gasnet_QueryGexObjects(&client, &endpoint, &team, &segment);
  me = gasnet_mynode();
  nodes = gasnet_nodes();
  EXPECT_EQ(gasnet_getSegmentInfo(segments, kNodesMax), GASNET_OK);
}
JOB(objects_of_init_and_attach, "GX-008 GX-026", kNetwork, 0, "") {
  start_by_gasnet1(NULL, 0, 0);
  EXPECT(client != GEX_CLIENT_INVALID && endpoint != GEX_EP_INVALID && team != GEX_TM_INVALID);
  EXPECT(gex_TM_QueryEP(team) == endpoint && gex_TM_QueryClient(team) == client);
  EXPECT(gex_TM_QueryRank(team) == me && gex_TM_QuerySize(team) == nodes);
  EXPECT(gex_System_QueryJobRank() == me && gex_System_QueryJobSize() == nodes);
  EXPECT(segment != GEX_SEGMENT_INVALID && gex_EP_QuerySegment(endpoint) == segment);
  EXPECT(gex_Segment_QueryAddr(segment) == segments[me].addr &&
         gex_Segment_QuerySize(segment) == segments[me].size);
}

/* ---- what works, begun by either (GX-006, GX-007) -------------------------------------------- */

enum { kAsk = 200, kBytes, kAnswer, kAskEx, kHandlers = 4, kMessageBytes = 300 };
static _Atomic int answers, payloads;
static void on_ask(gasnet_token_t token, gasnet_handlerarg_t word) {
  gasnet_AMReplyShort1(token, kAnswer, word + 1);
}
static void on_bytes(gasnet_token_t token, void *buf, size_t nbytes, gasnet_handlerarg_t seed) {
  EXPECT_EQ(nbytes, kMessageBytes);
  EXPECT(holds(buf, nbytes, (unsigned)seed));
  ++payloads;
  gasnet_AMReplyMedium1(token, kBytes + 10, buf, nbytes, seed);
}
static void on_bytes_back(gasnet_token_t token, void *buf, size_t nbytes,
                          gasnet_handlerarg_t seed) {
  (void)token;
  EXPECT(holds(buf, nbytes, (unsigned)seed));
  ++answers;
}
static void on_answer(gasnet_token_t token, gasnet_handlerarg_t word) {
  (void)token;
  EXPECT_EQ(word, 42);
  ++answers;
}
static void on_ask_ex(gex_Token_t token, gex_AM_Arg_t word) {
  gex_AM_ReplyShort1(token, kAnswer, 0, word + 2);
}
static gasnet_handlerentry_t old_table[] = {{kAsk, (void (*)())on_ask},
                                            {kBytes, (void (*)())on_bytes},
                                            {kAnswer, (void (*)())on_answer},
                                            {kBytes + 10, (void (*)())on_bytes_back}};
static gex_AM_Entry_t table[] = {
    {kAskEx, (gex_AM_Fn_t)on_ask_ex, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, "on_ask_ex"},
    {kAsk, (gex_AM_Fn_t)on_ask, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, "on_ask"},
    {kBytes, (gex_AM_Fn_t)on_bytes, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 1, NULL, "on_bytes"},
    {kAnswer, (gex_AM_Fn_t)on_answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 1, NULL, "on_answer"},
    {kBytes + 10, (gex_AM_Fn_t)on_bytes_back, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 1, NULL,
     "on_bytes_back"}};

static void messages_of_both(gex_Rank_t to) {
  static unsigned char bytes[kMessageBytes];
  const int before = answers;
  fill(bytes, kMessageBytes, 5);
  gasnet_AMRequestShort1(to, kAsk, 41);
  gasnet_AMRequestShort1(to, kAskEx, 40); /* a handler of either API */
  gex_AM_RequestShort1(team, to, kAsk, 0, 41);
  gex_AM_RequestShort1(team, to, kAskEx, 0, 40);
  gasnet_AMRequestMedium1(to, kBytes, bytes, kMessageBytes, 5);
  gasnet_AMRequestLong1(to, kBytes, bytes, kMessageBytes, part(to), 5);
  gasnet_AMRequestLongAsync1(to, kBytes, bytes, kMessageBytes, part(to) + 4096, 5);
  gex_AM_RequestMedium1(team, to, kBytes, bytes, kMessageBytes, GEX_EVENT_NOW, 0, 5);
  AWAIT(answers, before + 8);
}
static void transfers_of_both(gex_Rank_t to) {
  static unsigned char bytes[kMessageBytes], back[kMessageBytes];
  unsigned char *const at = part(to);
  fill(bytes, kMessageBytes, 9);
  gasnet_put(to, at, bytes, kMessageBytes);
  EXPECT_EQ(gex_RMA_GetBlocking(team, back, to, at, kMessageBytes, 0), 0);
  EXPECT(holds(back, kMessageBytes, 9));
  fill(bytes, kMessageBytes, 10);
  EXPECT_EQ(gex_RMA_PutBlocking(team, to, at, bytes, kMessageBytes, 0), 0);
  gasnet_get_bulk(back, to, at, kMessageBytes);
  EXPECT(holds(back, kMessageBytes, 10));
  gasnet_memset(to, at, 7, 8);
  EXPECT(gex_RMA_GetBlockingVal(team, to, at, 2, 0) == 0x0707);
  gasnet_put_val(to, at, 99, 4);
  EXPECT(gasnet_get_val(to, at, 4) == 99);
  /* Events are handles (GX-009): each is synchronised by the other API. */
  gex_Event_Wait(gasnet_put_nb(to, at, bytes, kMessageBytes));
  gasnet_wait_syncnb(gex_RMA_GetNB(team, back, to, at, kMessageBytes, 0));
  EXPECT(holds(back, kMessageBytes, 10));
}
static void use_both(void) {
  barrier();
  for (gex_Rank_t to = 0; to < nodes; ++to) {
    messages_of_both(to);
    transfers_of_both(to);
  }
  barrier();
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  EXPECT_EQ(payloads, 4 * nodes);
}
JOB(both_apis_begun_by_client_init, "GX-007 GX-009", kNetwork, 0, "") {
  start_ex_job(GEX_FLAG_USES_GASNET1, kSegmentBytes);
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, table, 5), GASNET_OK);
  use_both();
}
JOB(both_apis_begun_by_init, "GX-007 GX-008 GX-009", kNetwork, 0, "") {
  start_by_gasnet1(old_table, kHandlers, 0);
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, table, 1), GASNET_OK);
  use_both();
}
