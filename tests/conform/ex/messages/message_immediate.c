/* GEX_FLAG_IMMEDIATE with fixed payloads: a call that says it did nothing did nothing, another one
 * comes once (GASNet-EX 0.19, "Fixed-Payload Active Messages"). */
#include "../ex.h"

enum { kEach = 40, kBytes = 300, kTries = 30000, kReplyTries = 5 };

static _Atomic int requests, replies, wrong;

static void on_answer(gex_Token_t token, gex_AM_Arg_t seed) {
  (void)token, (void)seed;
  ++replies;
}
EX_HANDLER(on_answer, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 1);
static void on_answer_with_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed) {
  (void)token;
  if (nbytes != kBytes || !holds(buf, nbytes, (unsigned)seed)) ++wrong;
  ++replies;
}
EX_HANDLER(on_answer_with_payload, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_MEDLONG, 1);

/* Answers by a reply of each category in turn. The handler may not wait for room: after some
 * refusals it replies without the flag. */
static int try_to_answer(gex_Token_t token, const void *payload, gex_Flags_t flags,
                         gex_AM_Arg_t seed) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  const gex_AM_Index_t handler = on_answer_with_payload_index;
  void *const dest = part(info.gex_srcrank) + part_bytes() / 2 + (seed % kEach) * kBytes;
  if (seed % 3 == 0) return gex_AM_ReplyShort1(token, on_answer_index, flags, seed);
  if (seed % 3 == 1)
    return gex_AM_ReplyMedium1(token, handler, payload, kBytes, GEX_EVENT_NOW, flags, seed);
  return gex_AM_ReplyLong1(token, handler, payload, kBytes, dest, GEX_EVENT_NOW, flags, seed);
}
static void answer(gex_Token_t token, gex_AM_Arg_t seed) {
  unsigned char payload[kBytes];
  fill(payload, sizeof payload, (unsigned)seed);
  ++requests;
  for (int tries = 0; tries < kReplyTries; ++tries)
    if (try_to_answer(token, payload, GEX_FLAG_IMMEDIATE, seed) == 0) return;
  EXPECT_EQ(try_to_answer(token, payload, 0, seed), 0);
}
static void on_short(gex_Token_t token, gex_AM_Arg_t seed) { answer(token, seed); }
EX_HANDLER(on_short, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1);
static void on_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed) {
  if (nbytes != kBytes || !holds(buf, nbytes, (unsigned)seed)) ++wrong;
  answer(token, seed);
}
EX_HANDLER(on_payload, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 1);

/* A message that is sent again until it is taken. An event counts only where the call did
 * something. */
static void send(gex_Rank_t to, int category, int i) {
  const gex_Flags_t now = GEX_FLAG_IMMEDIATE;
  unsigned char payload[kBytes];
  gex_Event_t event;
  fill(payload, sizeof payload, (unsigned)i);
  if (category == 0) {
    while (gex_AM_RequestShort1(team, to, on_short_index, now, i) != 0) gasnet_AMPoll();
    return;
  }
  if (category == 1) {
    while (gex_AM_RequestMedium1(team, to, on_payload_index, payload, kBytes, &event, now, i) != 0)
      gasnet_AMPoll();
    gex_Event_Wait(event);
  } else {
    while (gex_AM_RequestLong1(team, to, on_payload_index, payload, kBytes, part(to) + i * kBytes,
                               GEX_EVENT_GROUP, now, i) != 0)
      gasnet_AMPoll();
    gex_NBI_Wait(GEX_EC_AM, 0);
  }
  memset(payload, 0xdd, sizeof payload);
}

CASE(immediate_requests_and_replies_come_once, "GX-103 GX-104 GX-110") {
  const int all = 3 * kEach * (int)nodes;
  requests = replies = wrong = 0;
  barrier();
  for (gex_Rank_t k = 0; k < nodes; ++k)
    for (int i = 0; i < 3 * kEach; ++i) send((me + k) % nodes, i / kEach, i % kEach);
  AWAIT(replies, all);
  AWAIT(requests, all);
  barrier();
  EXPECT_EQ(replies, all);
  EXPECT_EQ(requests, all);
  EXPECT_EQ(wrong, 0);
}

/* To a rank that makes no call, until a call says that it did nothing, if one does. Those that
 * returned zero arrive, and those that did not do not. */
static _Atomic int arrived, told;
static void on_flood(gex_Token_t token) {
  (void)token;
  ++arrived;
}
EX_HANDLER(on_flood, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0);
static void on_total(gex_Token_t token, gex_AM_Arg_t total) {
  (void)token;
  told = total + 1;
}
EX_HANDLER(on_total, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1);

CASE(refused_requests_do_not_arrive, "GX-103") {
  if (nodes < 2) NOT_HERE("one rank has nobody to wait for");
  arrived = told = 0;
  if (freeze_rank_1()) {
    int sent = 0, refused = 0;
    for (int tries = 0; tries < kTries && refused < 10; ++tries) {
      if (gex_AM_RequestShort0(team, 1, on_flood_index, GEX_FLAG_IMMEDIATE) == 0)
        ++sent;
      else
        ++refused;
    }
    thaw_rank_1();
    EXPECT_EQ(gex_AM_RequestShort1(team, 1, on_total_index, 0, sent), 0);
  }
  if (me == 1) {
    AWAIT(told, 1);
    AWAIT(arrived, told - 1);
  }
  barrier();
  if (me == 1) EXPECT_EQ(arrived, told - 1);
}
