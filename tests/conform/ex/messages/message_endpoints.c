/* Which endpoints active messages reach, and where Longs may go (GASNet-EX 0.19, "Fixed-Payload
 * Active Messages"). */
#include "../ex.h"

enum { kBytes = 1000, kOwnBytes = 1 << 16 };

static _Atomic int echoes, wrong;
static unsigned char local[kBytes];

/* ---- dest_addr, as it is --------------------------------------------------------------------- */

static void *address_of(gex_AM_Arg_t high, gex_AM_Arg_t low) {
  return (void *)(uintptr_t)((uint64_t)(uint32_t)high << 32 | (uint32_t)low);
}
static void on_empty_reply(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t high,
                           gex_AM_Arg_t low) {
  (void)token;
  if (nbytes != 0 || buf != address_of(high, low)) ++wrong;
  ++echoes;
}
EX_HANDLER(on_empty_reply, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_LONG, 2);
static void on_empty(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t high,
                     gex_AM_Arg_t low) {
  if (nbytes != 0 || buf != address_of(high, low)) ++wrong;
  EXPECT_EQ(gex_AM_ReplyLong2(token, on_empty_reply_index, NULL, 0, address_of(~high, low),
                              GEX_EVENT_NOW, 0, ~high, low),
            0);
}
EX_HANDLER(on_empty, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_LONG, 2);

/* Inside of the segment, at its end, and at no memory at all. */
static void send_empty_longs(void) {
  char here;
  echoes = wrong = 0;
  barrier();
  for (gex_Rank_t k = 0; k < nodes; ++k) {
    const gex_Rank_t to = (me + k) % nodes;
    char *const first = segments[to].addr;
    void *const places[] = {NULL,
                            &here,
                            first,
                            first + segments[to].size,
                            (void *)(uintptr_t)-1,
                            (void *)(uintptr_t)0x123456789abcu};
    for (int i = 0; i < 6; ++i) {
      const uint64_t bits = (uintptr_t)places[i];
      EXPECT_EQ(
          gex_AM_RequestLong2(team, to, on_empty_index, i % 2 ? NULL : &here, 0, places[i],
                              GEX_EVENT_NOW, 0, (gex_AM_Arg_t)(bits >> 32), (gex_AM_Arg_t)bits),
          0);
    }
  }
  AWAIT(echoes, 6 * (int)nodes);
  barrier();
  EXPECT_EQ(wrong, 0);
}

CASE(dest_addr_of_no_bytes_arrives_unchanged, "GX-106") { send_empty_longs(); }

/* A handler where a job of its own registers one. */
static void add_handler(gex_EP_t ep, gex_AM_Index_t index, gex_AM_Fn_t function, gex_Flags_t flags,
                        unsigned nargs) {
  gex_AM_Entry_t entry = {
      .gex_index = index, .gex_fnptr = function, .gex_flags = flags, .gex_nargs = nargs};
  EXPECT_EQ(gex_EP_RegisterHandlers(ep, &entry, 1), GASNET_OK);
}

JOB(longs_of_no_bytes_need_no_segment, "GX-106", kNetwork, 0, "") {
  start_ex_job(0, 0);
  on_empty_index = 200;
  on_empty_reply_index = 201;
  add_handler(endpoint, 200, (gex_AM_Fn_t)on_empty, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_LONG, 2);
  add_handler(endpoint, 201, (gex_AM_Fn_t)on_empty_reply, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_LONG, 2);
  barrier();
  send_empty_longs();
}

/* ---- From each endpoint to each endpoint ----------------------------------------------------- */

enum { kEndpoints = 2, kAsked = 200, kTold = 201, kPart = 4096 };

static gex_EP_t endpoints[kEndpoints];
static _Atomic int told;

static unsigned char *segment_of(gex_Rank_t rank, int index) {
  void *address = NULL;
  uintptr_t bytes = 0;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(gex_TM_Pair(endpoints[0], (gex_EP_Index_t)index), rank,
                                            &address, NULL, &bytes, 0));
  EXPECT(bytes >= kOwnBytes);
  return address;
}

/* Arguments: the index of the sender's endpoint, that of the receiver's, and the sender's rank. */
static void check_token(gex_Token_t token, gex_EP_t receiver, gex_Rank_t sender) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK | GEX_TI_EP);
  EXPECT(info.gex_ep == receiver);
  EXPECT_EQ(info.gex_srcrank, sender);
}
/* The one of this function's endpoint, and no other's, runs. */
static void asked(gex_Token_t token, int own, void *buf, size_t nbytes, gex_AM_Arg_t from,
                  gex_AM_Arg_t to, gex_AM_Arg_t sender) {
  EXPECT_EQ(to, own);
  check_token(token, endpoints[own], (gex_Rank_t)sender);
  if (!holds(buf, nbytes, (unsigned)(sender + from))) ++wrong;
  EXPECT_EQ(gex_AM_ReplyMedium3(token, kTold, buf, nbytes, GEX_EVENT_NOW, 0, from, to, (int)me), 0);
}
static void answered(gex_Token_t token, int own, void *buf, size_t nbytes, gex_AM_Arg_t from,
                     gex_AM_Arg_t replier) {
  EXPECT_EQ(from, own);
  check_token(token, endpoints[own], (gex_Rank_t)replier);
  if (!holds(buf, nbytes, me + (unsigned)from)) ++wrong;
  ++told;
}
static void on_asked_0(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t from,
                       gex_AM_Arg_t to, gex_AM_Arg_t sender) {
  asked(token, 0, buf, nbytes, from, to, sender);
}
static void on_asked_1(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t from,
                       gex_AM_Arg_t to, gex_AM_Arg_t sender) {
  asked(token, 1, buf, nbytes, from, to, sender);
}
static void on_told_0(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t from,
                      gex_AM_Arg_t to, gex_AM_Arg_t replier) {
  (void)to;
  answered(token, 0, buf, nbytes, from, replier);
}
static void on_told_1(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t from,
                      gex_AM_Arg_t to, gex_AM_Arg_t replier) {
  (void)to;
  answered(token, 1, buf, nbytes, from, replier);
}

/* Two endpoints of each rank with segments of their own, which are published, not attached; a team
 * of the second ones. */
static gex_TM_t start_with_two_endpoints(gex_Segment_t *owned) {
  const gex_AM_Fn_t on_asked[] = {(gex_AM_Fn_t)on_asked_0, (gex_AM_Fn_t)on_asked_1};
  const gex_AM_Fn_t on_told[] = {(gex_AM_Fn_t)on_told_0, (gex_AM_Fn_t)on_told_1};
  gex_EP_Location_t members[kNodesMax];
  gex_TM_t second_team;
  start_ex_job(0, 0);
  endpoints[0] = endpoint;
  EXPECT_EQ(gex_EP_Create(&endpoints[1], client, GEX_EP_CAPABILITY_ALL, 0), GASNET_OK);
  for (int i = 0; i < kEndpoints; ++i) {
    add_handler(endpoints[i], kAsked, on_asked[i], GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 3);
    add_handler(endpoints[i], kTold, on_told[i], GEX_FLAG_AM_REPLY | GEX_FLAG_AM_MEDIUM, 3);
    EXPECT_EQ(gex_Segment_Create(&owned[i], client, NULL, kOwnBytes, GEX_MK_HOST, 0), GASNET_OK);
    EXPECT_EQ(gex_EP_BindSegment(endpoints[i], owned[i], 0), GASNET_OK);
  }
  EXPECT_EQ(gex_EP_PublishBoundSegment(team, endpoints, kEndpoints, 0), GASNET_OK);
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    members[rank].gex_rank = rank;
    members[rank].gex_ep_index = 1;
  }
  gex_TM_Create(&second_team, 1, team, members, nodes, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  return second_team;
}

static void ask(gex_TM_t through, gex_Rank_t to, int from, int index) {
  unsigned char *const dest = segment_of(to, index) + me * kPart + from * (kPart / 2);
  const gex_AM_Arg_t rank = (gex_AM_Arg_t)me;
  fill(local, kBytes, me + (unsigned)from);
  EXPECT_EQ(
      gex_AM_RequestMedium3(through, to, kAsked, local, 400, GEX_EVENT_NOW, 0, from, index, rank),
      0);
  EXPECT_EQ(gex_AM_RequestLong3(through, to, kAsked, local, 400, dest, GEX_EVENT_NOW, 0, from,
                                index, rank),
            0);
}

JOB(each_endpoint_reaches_each_endpoint, "GX-106 GX-108", kNetwork, 0, "") {
  gex_Segment_t owned[kEndpoints];
  const gex_TM_t second_team = start_with_two_endpoints(owned);
  barrier();
  for (gex_Rank_t k = 0; k < nodes; ++k) {
    const gex_Rank_t to = (me + k) % nodes;
    for (int from = 0; from < kEndpoints; ++from)
      for (int index = 0; index < kEndpoints; ++index)
        ask(gex_TM_Pair(endpoints[from], (gex_EP_Index_t)index), to, from, index);
    ask(team, to, 0, 0);
    ask(second_team, to, 1, 1);
  }
  AWAIT(told, (int)nodes * 2 * (kEndpoints * kEndpoints + 2));
  barrier();
  EXPECT_EQ(told, nodes * 2 * (kEndpoints * kEndpoints + 2));
  EXPECT_EQ(wrong, 0);
}
