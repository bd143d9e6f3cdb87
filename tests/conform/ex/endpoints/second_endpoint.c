/* second_endpoint.h */
#include "second_endpoint.h"

gex_EP_t endpoints[kEndpoints];
gex_EP_Index_t second_index;
gex_Segment_t second_segment;
_Atomic unsigned came[kEndpoints], answered[kEndpoints];
gex_TM_t pairs_of_handler[2][kEndpoints][kEndpoints];

static unsigned char *memory_of[kNodesMax];
static unsigned char memory[kSecondBytes];

/* Pairs are legal in handlers, and with a lock held. */
static void make_pairs(void) {
  static gex_HSL_t lock = GEX_HSL_INITIALIZER;
  gex_HSL_Lock(&lock);
  for (int time = 0; time < 2; ++time)
    for (int from = 0; from < kEndpoints; ++from)
      for (int to = 0; to < kEndpoints; ++to)
        pairs_of_handler[time][from][to] = gex_TM_Pair(endpoints[from], to ? second_index : 0);
  gex_HSL_Unlock(&lock);
}

static void take(gex_Token_t token, int which, int is_request) {
  gex_Token_Info_t info;
  EXPECT_EQ(gex_Token_Info(token, &info, GEX_TI_EP | GEX_TI_IS_REQ) & GEX_TI_EP, GEX_TI_EP);
  EXPECT(info.gex_ep == endpoints[which]);
  if (is_request >= 0) EXPECT_EQ(info.gex_is_req != 0, is_request);
}
static void on_answer_at(gex_Token_t token, int which) {
  take(token, which, -1);
  ++answered[which];
}
static void on_payload_at(gex_Token_t token, int which, void *buf, size_t nbytes,
                          gex_AM_Arg_t seed) {
  take(token, which, 1);
  EXPECT(holds(buf, nbytes, (unsigned)seed));
  make_pairs();
  gex_AM_ReplyShort0(token, answer_handler(), 0);
  ++came[which];
}

/* A function for each endpoint. */
static void on_answer(gex_Token_t token) { on_answer_at(token, 0); }
static void on_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed) {
  on_payload_at(token, 0, buf, nbytes, seed);
}
EX_HANDLER(on_answer, GEX_FLAG_AM_REQREP | GEX_FLAG_AM_SHORT, 0);
EX_HANDLER(on_payload, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 1);
static void on_second_answer(gex_Token_t token) { on_answer_at(token, 1); }
static void on_second_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed) {
  on_payload_at(token, 1, buf, nbytes, seed);
}
gex_AM_Index_t payload_handler(void) { return on_payload_index; }
gex_AM_Index_t answer_handler(void) { return on_answer_index; }

static void make_second_endpoint(void) {
  endpoints[0] = endpoint;
  EXPECT_EQ(gex_EP_Create(&endpoints[1], client, GEX_EP_CAPABILITY_ALL, 0), GASNET_OK);
  second_index = gex_EP_QueryIndex(endpoints[1]);
  gex_AM_Entry_t entries[] = {{.gex_index = on_answer_index,
                               .gex_fnptr = (gex_AM_Fn_t)on_second_answer,
                               .gex_flags = GEX_FLAG_AM_REQREP | GEX_FLAG_AM_SHORT},
                              {.gex_index = on_payload_index,
                               .gex_fnptr = (gex_AM_Fn_t)on_second_payload,
                               .gex_flags = GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG,
                               .gex_nargs = 1}};
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoints[1], entries, 2), GASNET_OK);
  EXPECT_EQ(gex_Segment_Create(&second_segment, client, memory, kSecondBytes, GEX_MK_HOST, 0),
            GASNET_OK);
  EXPECT_EQ(gex_EP_BindSegment(endpoints[1], second_segment, 0), GASNET_OK);
  EXPECT_EQ(gex_EP_PublishBoundSegment(team, &endpoints[1], 1, 0), GASNET_OK);
  barrier(); /* no message comes before its handler is known */
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    void *address = NULL;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(gex_TM_Pair(endpoint, second_index), rank, &address,
                                              NULL, NULL, 0));
    memory_of[rank] = address;
  }
}

void need_second_endpoint(void) {
  if (endpoints[1] == GEX_EP_INVALID) make_second_endpoint();
  for (int i = 0; i < kEndpoints; ++i) came[i] = answered[i] = 0;
  barrier();
}

size_t second_part_bytes(void) { return kSecondBytes / nodes / 64 * 64; }
unsigned char *second_part(gex_Rank_t owner) { return memory_of[owner] + me * second_part_bytes(); }
