/* The use of each capability (the additions, 3.2): an endpoint that asked for it alone, without hints and with all of
 * them, which change no result (3.3). */
#include "../ex.h"

enum { kRma, kAm, kVis, kColl, kAd, kCapabilities, kAll = kCapabilities, kMade };
enum { kPageBytes = 4096, kOwnBytes = kMade * kPageBytes, kAsk = 200, kAnswer = 201 };
static const gex_EP_Capabilities_t asked[kMade] = {GEX_EP_CAPABILITY_RMA, GEX_EP_CAPABILITY_AM,
                                                   GEX_EP_CAPABILITY_VIS, GEX_EP_CAPABILITY_COLL,
                                                   GEX_EP_CAPABILITY_AD,  GEX_EP_CAPABILITY_ALL};
static gex_EP_t made[kMade];
static gex_Segment_t own;
static unsigned char *theirs; /* the peer's segment, one page for each endpoint */
static gex_Rank_t peer;

static _Atomic int answers;
static void on_ask(gex_Token_t token, gex_AM_Arg_t number) {
  gex_AM_ReplyShort1(token, kAnswer, 0, number);
}
static void on_answer(gex_Token_t token, gex_AM_Arg_t number) {
  (void)token;
  EXPECT_EQ(number, 77);
  ++answers;
}

static gex_TM_t pair(int which) { return gex_TM_Pair(made[which], gex_EP_QueryIndex(made[which])); }

static void make_endpoints(gex_Flags_t hints) {
  EXPECT_EQ(gex_Segment_Create(&own, client, NULL, kOwnBytes, GEX_MK_HOST, 0), GASNET_OK);
  memset(gex_Segment_QueryAddr(own), 0, kOwnBytes);
  for (int i = 0; i < kMade; ++i) {
    EXPECT_EQ(gex_EP_Create(&made[i], client, asked[i], hints), GASNET_OK);
    EXPECT_EQ(gex_EP_BindSegment(made[i], own, 0), GASNET_OK);
    gex_AM_Entry_t table[] = {
        {kAsk, (gex_AM_Fn_t)on_ask, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, NULL, "ask"},
        {kAnswer, (gex_AM_Fn_t)on_answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 1, NULL,
         "answer"}};
    if (asked[i] & GEX_EP_CAPABILITY_AM)
      EXPECT_EQ(gex_EP_RegisterHandlers(made[i], table, 2), GASNET_OK);
  }
  EXPECT_EQ(gex_EP_PublishBoundSegment(team, made, kMade, 0), GASNET_OK);
  barrier();
  void *address = NULL;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(pair(kRma), peer, &address, NULL, NULL, 0));
  theirs = address;
}

static void use_rma(int which) {
  unsigned char bytes[700], back[700];
  unsigned char *there = theirs + which * kPageBytes;
  fill(bytes, sizeof bytes, me + 3);
  EXPECT_EQ(gex_RMA_PutBlocking(pair(which), peer, there, bytes, sizeof bytes, 0), 0);
  gex_Event_Wait(gex_RMA_GetNB(pair(which), back, peer, there, sizeof back, 0));
  EXPECT(holds(back, sizeof back, me + 3));
}

static void use_am(int which) {
  const int due = answers + 1;
  EXPECT_EQ(gex_AM_RequestShort1(pair(which), peer, kAsk, 0, 77), 0);
  AWAIT(answers, due);
}

static void use_vis(int which) {
  unsigned char bytes[900], back[900];
  unsigned char *there = theirs + which * kPageBytes + 1000;
  gex_Memvec_t pieces[] = {{there, 300}, {there + 500, 600}}, whole[] = {{bytes, sizeof bytes}};
  fill(bytes, sizeof bytes, me + 9);
  EXPECT_EQ(gex_VIS_VectorPutBlocking(pair(which), peer, 2, pieces, 1, whole, 0), 0);
  whole[0].gex_addr = back;
  EXPECT_EQ(gex_VIS_VectorGetBlocking(pair(which), 1, whole, peer, 2, pieces, 0), 0);
  EXPECT(holds(back, sizeof back, me + 9));
}

static void name_members(int which, gex_EP_Location_t members[]) {
  for (gex_Rank_t rank = 0; rank < nodes; ++rank)
    members[rank] = (gex_EP_Location_t){rank, gex_EP_QueryIndex(made[which])};
}

/* With scratch, as a team without any may refuse collectives (EX-117). */
static void use_coll(int which) {
  gex_EP_Location_t members[kNodesMax];
  gex_Addr_t scratch[] = {(unsigned char *)gex_Segment_QueryAddr(own) + which * kPageBytes};
  gex_TM_t made_team = GEX_TM_INVALID;
  uint64_t mine = me + 1, sum = 0;
  name_members(which, members);
  EXPECT(gex_TM_Create(&made_team, 1, team, members, nodes, NULL, 0,
                       GEX_FLAG_TM_LOCAL_SCRATCH | GEX_FLAG_TM_SCRATCH_SIZE_MIN) <=
         kPageBytes);
  gex_TM_Create(&made_team, 1, team, members, nodes, scratch, kPageBytes,
                GEX_FLAG_TM_LOCAL_SCRATCH);
  gex_Event_Wait(gex_Coll_ReduceToAllNB(made_team, &sum, &mine, GEX_DT_U64, sizeof sum, 1,
                                        GEX_OP_ADD, NULL, NULL, 0));
  EXPECT_EQ(sum, nodes * (nodes + 1) / 2);
  gex_Event_Wait(gex_Coll_BarrierNB(made_team, 0));
  gex_TM_Destroy(made_team, NULL, 0);
}

/* Every rank adds to the peer's word, to which nobody else does. */
static void use_ad(int which) {
  gex_EP_Location_t members[kNodesMax];
  gex_TM_t made_team = GEX_TM_INVALID;
  gex_AD_t domain;
  uint64_t before = 99, word = 99;
  uint64_t *there = (uint64_t *)(void *)(theirs + which * kPageBytes + 3000);
  name_members(which, members);
  gex_TM_Create(&made_team, 1, team, members, nodes, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  EXPECT(gex_TM_QueryEP(made_team) == made[which]);
  gex_AD_Create(&domain, made_team, GEX_DT_U64, GEX_OP_FADD | GEX_OP_GET, 0);
  gex_Event_Wait(gex_AD_OpNB_U64(domain, &before, peer, there, GEX_OP_FADD, 5, 0, 0));
  gex_Event_Wait(gex_AD_OpNB_U64(domain, &word, peer, there, GEX_OP_GET, 0, 0, 0));
  EXPECT(before == 0 && word == 5);
  gex_AD_Destroy(domain);
  gex_TM_Destroy(made_team, NULL, 0);
}

static void use_all(gex_Flags_t hints) {
  start_ex_job(0, GASNET_PAGESIZE);
  peer = (me + 1) % nodes;
  make_endpoints(hints);
  use_rma(kRma);
  use_rma(kAll);
  use_am(kAm);
  use_am(kAll);
  use_vis(kVis);
  use_vis(kAll);
  use_coll(kColl);
  use_coll(kAll);
  use_ad(kAd);
  use_ad(kAll);
  barrier();
}

JOB(each_capability_alone, "EX-007 EX-018", kNetwork, 0, "") { use_all(0); }
JOB(each_capability_with_hints, "EX-010 EX-027 EX-028", kNetwork, 0, "") {
  use_all(GEX_FLAG_HINT_ACCEL_ALL);
}
