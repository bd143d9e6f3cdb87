/* Messages of exactly the largest payloads, with all ways of local completion (GASNet-EX 0.19,
 * "Active messages"). */
#include "../ex.h"

enum { kLongMax = 2 << 20 }; /* of a Long, as much as the segment has room for */

static _Atomic int came, limits_checked;
static unsigned char *source;

/* Every argument and every byte of the payload. */
static void take(void *buf, size_t nbytes, gex_AM_Arg_t seed, gex_AM_Arg_t bytes) {
  EXPECT_EQ(nbytes, bytes);
  EXPECT(holds(buf, nbytes, (unsigned)seed));
  ++came;
}
static void on_reply(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed,
                     gex_AM_Arg_t bytes) {
  (void)token;
  take(buf, nbytes, seed, bytes);
}
EX_HANDLER(on_reply, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_MEDLONG, 2);
static void on_request(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed,
                       gex_AM_Arg_t bytes) {
  (void)token;
  take(buf, nbytes, seed, bytes);
}
EX_HANDLER(on_request, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 2);
static void on_wide(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t a0, gex_AM_Arg_t a1,
                    gex_AM_Arg_t a2, gex_AM_Arg_t a3, gex_AM_Arg_t a4, gex_AM_Arg_t a5,
                    gex_AM_Arg_t a6, gex_AM_Arg_t a7, gex_AM_Arg_t a8, gex_AM_Arg_t a9,
                    gex_AM_Arg_t a10, gex_AM_Arg_t a11, gex_AM_Arg_t a12, gex_AM_Arg_t a13,
                    gex_AM_Arg_t a14, gex_AM_Arg_t a15) {
  (void)token;
  EXPECT_EQ(a2 + a3 + a4 + a5 + a6 + a7 + a8 + a9 + a10 + a11 + a12 + a13 + a14 + a15, 14);
  take(buf, nbytes, a0, a1);
}
EX_HANDLER(on_wide, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 16);

static size_t at_most(size_t limit) {
  const size_t room = part_bytes() < kLongMax ? part_bytes() : kLongMax;
  return limit < room ? limit : room;
}
/* The ways to wait for an event, for the group, or for nothing. */
static void complete(gex_Event_t *lc, gex_Event_t event) {
  if (lc == GEX_EVENT_GROUP) gex_NBI_Wait(GEX_EC_AM, 0);
  if (lc != GEX_EVENT_GROUP && lc != GEX_EVENT_NOW) gex_Event_Wait(event);
}
static void await_all(int count) {
  AWAIT(came, count);
  barrier();
  EXPECT_EQ(came, count);
  came = 0;
  barrier();
}

static void send_requests(gex_Rank_t to, int way, gex_Flags_t flags) {
  gex_Event_t event = GEX_EVENT_INVALID;
  gex_Event_t *const ways[] = {GEX_EVENT_NOW, GEX_EVENT_GROUP, &event};
  gex_Event_t *const lc = ways[way];
  size_t n = gex_AM_MaxRequestMedium(team, to, lc, flags, 2);
  fill(source, kLongMax, (unsigned)way);
  while (gex_AM_RequestMedium2(team, to, on_request_index, source, n, lc, flags, way, (int)n) != 0)
    gasnet_AMPoll();
  complete(lc, event);
  n = gex_AM_MaxRequestMedium(team, to, lc, flags, 16);
  while (gex_AM_RequestMedium16(team, to, on_wide_index, source, n, lc, flags, way, (int)n, 1, 1, 1,
                                1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1) != 0)
    gasnet_AMPoll();
  complete(lc, event);
  n = at_most(gex_AM_MaxRequestLong(team, to, lc, flags, 2));
  while (gex_AM_RequestLong2(team, to, on_request_index, source, n, part(to), lc, flags, way,
                             (int)n) != 0)
    gasnet_AMPoll();
  complete(lc, event);
}

CASE(largest_requests, "GX-092 GX-094 GX-095") {
  source = malloc(kLongMax);
  for (int way = 0; way < 3; ++way) {
    for (gex_Flags_t flags = 0; flags <= GEX_FLAG_IMMEDIATE; flags += GEX_FLAG_IMMEDIATE) {
      for (gex_Rank_t to = 0; to < nodes; ++to) send_requests(to, way, flags);
      await_all(3 * (int)nodes);
    }
  }
  free(source);
}

/* ---- Replies --------------------------------------------------------------------------------- */

static unsigned char *reply_source;
static uintptr_t reply_places[kNodesMax]; /* of whom each reply's Long goes to */

static gex_Rank_t sender(gex_Token_t token) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  return info.gex_srcrank;
}
static void on_ask_medium(gex_Token_t token, gex_AM_Arg_t seed) {
  EXPECT_FIRST(limits_checked);
  const size_t n = gex_Token_MaxReplyMedium(token, GEX_EVENT_NOW, 0, 2);
  EXPECT_EQ(n, gex_AM_MaxReplyMedium(team, sender(token), GEX_EVENT_NOW, 0, 2));
  gex_AM_ReplyMedium2(token, on_reply_index, reply_source, n, GEX_EVENT_NOW, 0, seed, (int)n);
}
EX_HANDLER(on_ask_medium, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1);
static void on_ask_long(gex_Token_t token, gex_AM_Arg_t seed) {
  EXPECT_FIRST(limits_checked);
  const size_t n = gex_Token_MaxReplyLong(token, GEX_EVENT_NOW, 0, 2);
  EXPECT_EQ(n, gex_AM_MaxReplyLong(team, sender(token), GEX_EVENT_NOW, 0, 2));
  gex_AM_ReplyLong2(token, on_reply_index, reply_source, at_most(n),
                    (void *)reply_places[sender(token)], GEX_EVENT_NOW, 0, seed, (int)at_most(n));
}
EX_HANDLER(on_ask_long, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1);

CASE(largest_replies, "GX-092 GX-094 GX-097") {
  reply_source = malloc(kLongMax);
  fill(reply_source, kLongMax, 6);
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) reply_places[rank] = (uintptr_t)part(rank);
  limits_checked = 0;
  barrier();
  for (gex_Rank_t to = 0; to < nodes; ++to) {
    gex_AM_RequestShort1(team, to, on_ask_medium_index, 0, 6);
    gex_AM_RequestShort1(team, to, on_ask_long_index, 0, 6);
  }
  await_all(2 * (int)nodes);
  free(reply_source);
}

/* The limits of a token are those of its endpoints, with all arguments. */
static void on_token(gex_Token_t token) {
  gex_Event_t event = GEX_EVENT_INVALID;
  const gex_Event_t *const ways[] = {GEX_EVENT_NOW, &event, NULL};
  static const gex_Flags_t flags[] = {0, GEX_FLAG_IMMEDIATE, GEX_FLAG_AM_PREPARE_LEAST_CLIENT,
                                      GEX_FLAG_AM_PREPARE_LEAST_ALLOC};
  const gex_Rank_t from = sender(token);
  for (int way = 0; way < 3; ++way) {
    for (int f = 0; f < 4; ++f) {
      for (unsigned int n = 0; n <= gex_AM_MaxArgs(); ++n) {
        const size_t medium = gex_Token_MaxReplyMedium(token, ways[way], flags[f], n);
        const size_t large = gex_Token_MaxReplyLong(token, ways[way], flags[f], n);
        EXPECT(medium >= 512 && large >= 512);
        EXPECT_EQ(medium, gex_AM_MaxReplyMedium(team, from, ways[way], flags[f], n));
        EXPECT_EQ(large, gex_AM_MaxReplyLong(team, from, ways[way], flags[f], n));
      }
    }
  }
  ++came;
}
EX_HANDLER(on_token, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0);

CASE(limits_of_tokens, "GX-097") {
  for (gex_Rank_t to = 0; to < nodes; ++to) gex_AM_RequestShort0(team, to, on_token_index, 0);
  await_all((int)nodes);
}

/* ---- Negotiated payloads: the largest least_payload ------------------------------------------ */

static void prepare_medium(gex_Rank_t to, unsigned char *buffer, gex_Flags_t flag) {
  const size_t least = gex_AM_MaxRequestMedium(team, to, buffer ? GEX_EVENT_NOW : NULL, flag, 2);
  const gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestMedium(team, to, buffer, least, least,
                                                          buffer ? GEX_EVENT_NOW : NULL, 0, 2);
  EXPECT(gex_AM_SrcDescSize(sd) == least);
  if (buffer == NULL) fill(gex_AM_SrcDescAddr(sd), least, 8);
  gex_AM_CommitRequestMedium2(sd, on_request_index, least, 8, (gex_AM_Arg_t)least);
}
static void prepare_long(gex_Rank_t to, unsigned char *buffer, gex_Flags_t flag) {
  const size_t limit = gex_AM_MaxRequestLong(team, to, buffer ? GEX_EVENT_NOW : NULL, flag, 2);
  const size_t least = at_most(limit);
  const gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestLong(team, to, buffer, least, least, part(to),
                                                        buffer ? GEX_EVENT_NOW : NULL, 0, 2);
  EXPECT(gex_AM_SrcDescSize(sd) == least);
  if (buffer == NULL) fill(gex_AM_SrcDescAddr(sd), least, 8);
  gex_AM_CommitRequestLong2(sd, on_request_index, least, part(to), 8, (gex_AM_Arg_t)least);
}
CASE(largest_least_payloads, "GX-092") {
  source = malloc(kLongMax);
  fill(source, kLongMax, 8);
  for (gex_Rank_t to = 0; to < nodes; ++to) {
    prepare_medium(to, source, GEX_FLAG_AM_PREPARE_LEAST_CLIENT);
    prepare_medium(to, NULL, GEX_FLAG_AM_PREPARE_LEAST_ALLOC);
    prepare_long(to, source, GEX_FLAG_AM_PREPARE_LEAST_CLIENT);
  }
  await_all(3 * (int)nodes);
  for (gex_Rank_t to = 0; to < nodes; ++to) prepare_long(to, NULL, GEX_FLAG_AM_PREPARE_LEAST_ALLOC);
  await_all((int)nodes);
  free(source);
}
