/* Client, endpoint, team and segment: what they are, and the data that a client keeps with each
 * (GASNet-EX 0.19, "Client", "Endpoints", "Teams"). */
#include "../ex.h"

#if GASNET_MAXEPS < 1
#error "GASNET_MAXEPS is a number for the preprocessor, and no process has less than one endpoint"
#endif

CASE(declarations, "GX-052") {
  void (*const set_client)(gex_Client_t, const void *) = gex_Client_SetCData;
  void (*const set_segment)(gex_Segment_t, const void *) = gex_Segment_SetCData;
  void (*const set_team)(gex_TM_t, const void *) = gex_TM_SetCData;
  void (*const set_endpoint)(gex_EP_t, const void *) = gex_EP_SetCData;
  void *(*const of_client)(gex_Client_t) = gex_Client_QueryCData;
  void *(*const of_segment)(gex_Segment_t) = gex_Segment_QueryCData;
  void *(*const of_team)(gex_TM_t) = gex_TM_QueryCData;
  void *(*const of_endpoint)(gex_EP_t) = gex_EP_QueryCData;
  gex_AM_Fn_t function = NULL;
  gex_Token_t token = (gex_Token_t)0;
  gex_AM_Index_t index = 255;
  gex_AM_Arg_t argument = -1;
  IS(index, uint8_t);
  IS(argument, int32_t);
  EXPECT(set_client != NULL && set_segment != NULL && set_team != NULL && set_endpoint != NULL);
  EXPECT(of_client != NULL && of_segment != NULL && of_team != NULL && of_endpoint != NULL);
  EXPECT(function == NULL && token == (gex_Token_t)0 && index == 255 && argument == -1);
}

CASE(client_declarations, "GX-057") {
  int (*const init)(gex_Client_t *, gex_EP_t *, gex_TM_t *, const char *, int *, char ***,
                    gex_Flags_t) = gex_Client_Init;
  gex_Flags_t (*const flags)(gex_Client_t) = gex_Client_QueryFlags;
  const char *(*const name)(gex_Client_t) = gex_Client_QueryName;
  EXPECT(init != NULL);
  EXPECT_EQ(flags(client), 0);
  EXPECT(strcmp(name(client), "CONFORM") == 0);
}

CASE(client_has_its_name_and_its_objects, "GX-055 GX-058") {
  EXPECT(strcmp(gex_Client_QueryName(client), "CONFORM") == 0);
  EXPECT(gex_EP_QueryClient(endpoint) == client);
  EXPECT(gex_TM_QueryClient(team) == client);
  EXPECT(gex_TM_QueryEP(team) == endpoint);
  EXPECT(gex_Segment_QueryClient(segment) == client);
  EXPECT_EQ(gex_TM_QueryRank(team), gex_System_QueryJobRank());
  EXPECT_EQ(gex_TM_QuerySize(team), gex_System_QueryJobSize());
}

/* Zero is none of them, whatever the endpoint that a TM-pair names. */
CASE(zero_is_no_object, "GX-052 GX-053") {
  static gex_Client_t no_client;
  static gex_EP_t no_endpoint;
  static gex_Segment_t no_segment;
  static gex_TM_t no_team;
  EXPECT(no_client == GEX_CLIENT_INVALID && no_client == (gex_Client_t)0 && !no_client);
  EXPECT(no_endpoint == GEX_EP_INVALID && no_endpoint == (gex_EP_t)0 && !no_endpoint);
  EXPECT(no_segment == GEX_SEGMENT_INVALID && no_segment == (gex_Segment_t)0 && !no_segment);
  EXPECT(no_team == GEX_TM_INVALID && no_team == (gex_TM_t)0 && !no_team);
  EXPECT(client != GEX_CLIENT_INVALID && endpoint != GEX_EP_INVALID);
  EXPECT(segment != GEX_SEGMENT_INVALID && team != GEX_TM_INVALID);
  for (gex_EP_Index_t index = 0; index < GASNET_MAXEPS; ++index) {
    const gex_TM_t pair = gex_TM_Pair(endpoint, index);
    EXPECT(pair != GEX_TM_INVALID && pair != team);
  }
}

/* Sets and takes back what each object has, so that none has another's. */
static void check_data(gex_TM_t tm) {
  static const char words[4] = "cets";
  gex_Client_SetCData(client, words);
  gex_EP_SetCData(endpoint, words + 1);
  gex_TM_SetCData(tm, words + 2);
  gex_Segment_SetCData(segment, words + 3);
  EXPECT(gex_Client_QueryCData(client) == (const void *)words);
  EXPECT(gex_EP_QueryCData(endpoint) == (const void *)(words + 1));
  EXPECT(gex_TM_QueryCData(tm) == (const void *)(words + 2));
  EXPECT(gex_Segment_QueryCData(segment) == (const void *)(words + 3));
  gex_EP_SetCData(endpoint, words);
  EXPECT(gex_EP_QueryCData(endpoint) == (const void *)words);
  EXPECT(gex_TM_QueryCData(tm) == (const void *)(words + 2));
}
static void drop_data(gex_TM_t tm) {
  gex_Client_SetCData(client, NULL);
  gex_EP_SetCData(endpoint, NULL);
  gex_TM_SetCData(tm, NULL);
  gex_Segment_SetCData(segment, NULL);
  EXPECT(gex_Client_QueryCData(client) == NULL && gex_TM_QueryCData(tm) == NULL);
}

JOB(new_objects_have_no_data, "GX-054", kLocal, 0, "") {
  gex_EP_t further = GEX_EP_INVALID;
  start_ex_job(0, 65536);
  EXPECT(gex_Client_QueryCData(client) == NULL && gex_EP_QueryCData(endpoint) == NULL);
  EXPECT(gex_TM_QueryCData(team) == NULL && gex_Segment_QueryCData(segment) == NULL);
  check_data(team);
  EXPECT_EQ(gex_EP_Create(&further, client, GEX_EP_CAPABILITY_ALL, 0), GASNET_OK);
  EXPECT(gex_EP_QueryCData(further) == NULL);
}

/* A team made of another one, or of one that is gone, does not have its data. */
CASE(each_object_has_data_of_its_own, "GX-054") {
  gex_TM_t twin = GEX_TM_INVALID;
  check_data(team);
  for (int round = 0; round < 2; ++round) {
    gex_TM_Split(&twin, team, 0, 0, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
    EXPECT(gex_TM_QueryCData(twin) == NULL);
    EXPECT(gex_TM_QueryCData(team) != NULL);
    check_data(twin);
    gex_TM_Destroy(twin, NULL, 0);
  }
  drop_data(team);
}

/* Two teams of the same endpoints in another order: both name the caller, each by its own rank. */
CASE(team_is_members_in_order_and_the_caller, "GX-055") {
  gex_TM_t backwards = GEX_TM_INVALID;
  gex_TM_Split(&backwards, team, 0, -(int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  EXPECT(backwards != team);
  EXPECT_EQ(gex_TM_QuerySize(backwards), nodes);
  EXPECT_EQ(gex_TM_QueryRank(backwards), nodes - 1 - me);
  EXPECT(gex_TM_QueryEP(backwards) == endpoint);
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    const gex_EP_Location_t place = gex_TM_TranslateRankToEP(backwards, rank, 0);
    EXPECT_EQ(place.gex_rank, nodes - 1 - rank);
    EXPECT_EQ(place.gex_ep_index, 0);
  }
  gex_TM_Destroy(backwards, NULL, 0);
}

static _Atomic int pair_messages;
static void on_pair(gex_Token_t token, gex_AM_Arg_t sender) {
  expect_sender(token, (gex_Rank_t)sender);
  ++pair_messages;
}
EX_HANDLER(on_pair, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1);

/* By a TM-pair, ranks are those of the job: puts, gets, messages and a few queries take it. */
CASE(pair_names_endpoints, "GX-055") {
  const gex_TM_t pair = gex_TM_Pair(endpoint, 0);
  const gex_Rank_t next = (me + 1) % nodes;
  uint64_t back = 0;
  void *owner = NULL;
  uintptr_t bytes = 0;
  EXPECT_EQ(gex_RMA_PutBlockingVal(pair, next, part(next), 1000 + me, 8, 0), 0);
  EXPECT_EQ(gex_RMA_GetBlocking(pair, &back, next, part(next), sizeof back, 0), 0);
  EXPECT_EQ(back, 1000 + me);
  EXPECT_EQ(gex_AM_RequestShort1(pair, next, on_pair_index, 0, (gex_AM_Arg_t)me), 0);
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(pair, next, &owner, NULL, &bytes, 0));
  EXPECT(owner == segments[next].addr && bytes == segments[next].size);
  EXPECT(gex_AM_MaxRequestMedium(pair, next, GEX_EVENT_NOW, 0, 1) >= 512);
  AWAIT(pair_messages, 1); /* the neighbour may have sent it before this rank came here */
}
