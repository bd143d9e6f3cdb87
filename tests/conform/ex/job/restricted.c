/* Calls that are legal in handlers and with a lock held (GX-016 to GX-018): every call of the list,
 * in a request handler, in a reply handler, and by a client thread that holds a lock. */
#include "../ex.h"

static gex_AD_t domain = GEX_AD_INVALID;
static gex_HSL_t held = GEX_HSL_INITIALIZER, fixed = GEX_HSL_INITIALIZER;
static gasnet_hsl_t old = GASNET_HSL_INITIALIZER;
static int data;

static void use_locks(void) {
  gex_HSL_t made;
  gasnet_hsl_t old_made;
  gex_HSL_Lock(&fixed);
  gex_HSL_Unlock(&fixed);
  gex_HSL_Init(&made);
  EXPECT_EQ(gex_HSL_Trylock(&made), GASNET_OK);
  gex_HSL_Unlock(&made);
  gex_HSL_Destroy(&made);
  gasnet_hsl_lock(&old);
  gasnet_hsl_unlock(&old);
  gasnet_hsl_init(&old_made);
  EXPECT_EQ(gasnet_hsl_trylock(&old_made), GASNET_OK);
  gasnet_hsl_unlock(&old_made);
  gasnet_hsl_destroy(&old_made);
}

static void query_objects(void) {
  gex_Client_t a = GEX_CLIENT_INVALID;
  gex_EP_t b = GEX_EP_INVALID;
  gex_TM_t c = GEX_TM_INVALID;
  gex_Segment_t d = GEX_SEGMENT_INVALID;
  gasnet_QueryGexObjects(&a, &b, &c, &d);
  EXPECT(a == client && b == endpoint && c == team && d == segment);
  EXPECT(strcmp(gex_Client_QueryName(client), "CONFORM") == 0);
  EXPECT_EQ(gex_Client_QueryFlags(client), 0);
  EXPECT(gex_EP_QueryClient(endpoint) == client && gex_EP_QuerySegment(endpoint) == segment);
  EXPECT_EQ(gex_EP_QueryIndex(endpoint), 0);
  (void)gex_EP_QueryFlags(endpoint);
  EXPECT(gex_Segment_QueryClient(segment) == client &&
         gex_Segment_QueryAddr(segment) == segments[me].addr);
  EXPECT_EQ(gex_Segment_QuerySize(segment), segments[me].size);
  (void)gex_Segment_QueryFlags(segment);
  EXPECT(gex_TM_QueryClient(team) == client && gex_TM_QueryEP(team) == endpoint);
  EXPECT(gex_TM_QueryRank(team) == me && gex_TM_QuerySize(team) == nodes);
  (void)gex_TM_QueryFlags(team);
  EXPECT(gex_AD_QueryTM(domain) == team && gex_AD_QueryDT(domain) == GEX_DT_I64);
  EXPECT(gex_AD_QueryOps(domain) == GEX_OP_ADD && gex_AD_QueryFlags(domain) == 0);
  EXPECT(gex_TM_Pair(endpoint, 0) != GEX_TM_INVALID &&
         gex_TM_Pair(endpoint, 0) == gex_TM_Pair(endpoint, 0));
}

/* All write the same. */
static void use_client_data(void) {
  gex_Client_SetCData(client, &data);
  gex_EP_SetCData(endpoint, &data);
  gex_Segment_SetCData(segment, &data);
  gex_TM_SetCData(team, &data);
  gex_AD_SetCData(domain, &data);
  EXPECT(gex_Client_QueryCData(client) == &data && gex_EP_QueryCData(endpoint) == &data);
  EXPECT(gex_Segment_QueryCData(segment) == &data && gex_TM_QueryCData(team) == &data);
  EXPECT(gex_AD_QueryCData(domain) == &data);
}

static void query_system(void) {
  gex_RankInfo_t *near = NULL, *host = NULL;
  gex_Rank_t near_count = 0, near_index = 0, host_count = 0, host_index = 0, sets, set, hosts,
             host_set;
  EXPECT(gasnet_mynode() == me && gasnet_nodes() == nodes);
  EXPECT(gex_System_QueryJobRank() == me && gex_System_QueryJobSize() == nodes);
  gex_System_QueryNbrhdInfo(&near, &near_count, &near_index);
  gex_System_QueryHostInfo(&host, &host_count, &host_index);
  gex_System_QueryMyPosition(&sets, &set, &hosts, &host_set);
  EXPECT(near_index < near_count && near[near_index].gex_jobrank == me && set < sets);
  EXPECT(host_index < host_count && host[host_index].gex_jobrank == me && host_set < hosts);
  gex_System_SetVerboseErrors(1);
  EXPECT_EQ(gex_System_GetVerboseErrors(), 1);
  EXPECT(gex_System_QueryMaxThreads() >= 1);
  (void)gex_System_QueryHiddenAMConcurrencyLevel();
}

static void query_limits(void) {
  EXPECT(gex_AM_MaxArgs() >= 16);
  EXPECT(gex_AM_LUBRequestMedium() >= 512 && gex_AM_LUBReplyMedium() >= 512);
  EXPECT(gex_AM_LUBRequestLong() >= 512 && gex_AM_LUBReplyLong() >= 512);
  EXPECT(gex_AM_MaxRequestMedium(team, 0, GEX_EVENT_NOW, 0, 1) >= gex_AM_LUBRequestMedium());
  EXPECT(gex_AM_MaxReplyMedium(team, 0, GEX_EVENT_NOW, 0, 1) >= gex_AM_LUBReplyMedium());
  EXPECT(gex_AM_MaxRequestLong(team, 0, GEX_EVENT_NOW, 0, 1) >= gex_AM_LUBRequestLong());
  EXPECT(gex_AM_MaxReplyLong(team, 0, GEX_EVENT_NOW, 0, 1) >= gex_AM_LUBReplyLong());
}

static void call_everything(void) {
  use_locks();
  query_objects();
  use_client_data();
  query_system();
  query_limits();
}
static void ask_token(gex_Token_t token, int is_request) {
  gex_Token_Info_t info;
  gasnet_node_t source = kNodesMax;
  EXPECT(gex_Token_Info(token, &info, GEX_TI_SRCRANK | GEX_TI_EP) & GEX_TI_SRCRANK);
  EXPECT(info.gex_srcrank < nodes && info.gex_ep == endpoint);
  EXPECT_EQ(gasnet_AMGetMsgSource(token, &source), GASNET_OK);
  EXPECT_EQ(source, info.gex_srcrank);
  if (!is_request) return;
  EXPECT(gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, 0) >= 512);
  EXPECT(gex_Token_MaxReplyLong(token, GEX_EVENT_NOW, 0, 0) >= 512);
}

static _Atomic int answers;
static void on_answer(gex_Token_t token) {
  EXPECT_FIRST(answers > kNodesMax);
  call_everything();
  ask_token(token, 0);
  ++answers;
}
EX_HANDLER(on_answer, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 0);
static void on_ask(gex_Token_t token) {
  EXPECT_FIRST(answers > kNodesMax);
  call_everything();
  ask_token(token, 1);
  gex_AM_ReplyShort0(token, on_answer_index, 0);
}
EX_HANDLER(on_ask, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0);

static void forget_client_data(void) {
  gex_Client_SetCData(client, NULL);
  gex_EP_SetCData(endpoint, NULL);
  gex_Segment_SetCData(segment, NULL);
  gex_TM_SetCData(team, NULL);
}

CASE(calls_in_handlers, "GX-008 GX-016 GX-017") {
  gex_AD_Create(&domain, team, GEX_DT_I64, GEX_OP_ADD, 0);
  answers = 0;
  barrier();
  for (gex_Rank_t to = 0; to < nodes; ++to) gex_AM_RequestShort0(team, to, on_ask_index, 0);
  AWAIT(answers, (int)nodes);
  barrier();
  forget_client_data();
  gex_AD_Destroy(domain);
}

CASE(calls_with_a_lock_held, "GX-008 GX-016") {
  gex_AD_Create(&domain, team, GEX_DT_I64, GEX_OP_ADD, 0);
  gex_HSL_Lock(&held);
  call_everything();
  gex_HSL_Unlock(&held);
  barrier();
  forget_client_data();
  gex_AD_Destroy(domain);
}

/* ---- segments of others (GX-018) ------------------------------------------------------------- */

static gex_Event_t asked;
static void *asked_address;
static uintptr_t asked_bytes;
static _Atomic int asked_count;
static void on_look(gex_Token_t token, gex_AM_Arg_t rank) {
  (void)token;
  EXPECT_FIRST(asked_count);
  asked = gex_EP_QueryBoundSegmentNB(team, (gex_Rank_t)rank, &asked_address, NULL, &asked_bytes,
                                     GEX_FLAG_IMMEDIATE);
  ++asked_count;
}
EX_HANDLER(on_look, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1);

/* The event is not waited for there. */
CASE(segment_asked_for_in_a_handler, "GX-018") {
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    asked_address = NULL;
    asked_bytes = 0;
    asked_count = 0;
    barrier();
    gex_AM_RequestShort1(team, (me + 1) % nodes, on_look_index, 0, (gex_AM_Arg_t)rank);
    AWAIT(asked_count, 1);
    if (asked != GEX_EVENT_NO_OP) {
      gex_Event_Wait(asked);
      EXPECT(asked_address == segments[rank].addr && asked_bytes == segments[rank].size);
    }
    barrier();
  }
}

/* ---- gasnet_exit ----------------------------------------------------------------------------- */

static void on_exit_code(gex_Token_t token, gex_AM_Arg_t code) {
  (void)token;
  gasnet_exit(code);
}
static void register_exit(void) {
  gex_AM_Entry_t entry = {
      200,           (gex_AM_Fn_t)on_exit_code, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1, NULL,
      "on_exit_code"};
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, &entry, 1), GASNET_OK);
  barrier();
}
JOB(exit_in_a_handler, "GX-016", kNetwork, 7, "") {
  volatile int never = 0;
  start_ex_job(0, 0);
  register_exit();
  if (me == 0) gex_AM_RequestShort1(team, nodes - 1, 200, 0, 7);
  GASNET_BLOCKUNTIL(never);
}
JOB(exit_with_a_lock_held, "GX-016", kLocal, 8, "") {
  start_ex_job(0, 0);
  barrier();
  gex_HSL_Lock(&held);
  gasnet_exit(8);
}
