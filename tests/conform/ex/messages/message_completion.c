/* When the payload of an active message with a fixed payload is the client's again, and what a call
 * returns (GASNet-EX 0.19, "Fixed-Payload Active Messages"). */
#include "../ex.h"

enum { kLongBytes = 300000, kMediumMax = 1 << 20 };

static unsigned char local[kMediumMax];
static _Atomic int echoes, wrong;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static size_t medium_max(const gex_Event_t *lc_opt) {
  return least(gex_AM_MaxRequestMedium(team, GEX_RANK_INVALID, lc_opt, 0, 1), kMediumMax);
}
/* A Long's fits into half of what one rank may write in a segment; the rest is for replies. */
static size_t long_bytes(void) { return least(kLongBytes, part_bytes() / 4); }

static void on_echo(gex_Token_t token) {
  (void)token;
  ++echoes;
}
EX_HANDLER(on_echo, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 0);
static void on_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed) {
  if (!holds(buf, nbytes, (unsigned)seed)) ++wrong;
  EXPECT_EQ(gex_AM_ReplyShort0(token, on_echo_index, 0), 0);
}
EX_HANDLER(on_payload, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 1);

/* lc_opt of one call: 0 GEX_EVENT_NOW, 1 GEX_EVENT_GROUP, 2 and 3 an event, waited for or tested.
 */
static gex_Event_t *local_completion(int way, gex_Event_t *event) {
  return way == 0 ? GEX_EVENT_NOW : way == 1 ? GEX_EVENT_GROUP : event;
}
static void finish(int way, gex_Event_t event) {
  if (way == 1) gex_NBI_Wait(GEX_EC_AM, 0);
  if (way >= 2) EXPECT(event != GEX_EVENT_NO_OP); /* it was written */
  if (way == 2) gex_Event_Wait(event);
  if (way == 3)
    while (gex_Event_Test(event) != GASNET_OK) gasnet_AMPoll();
}

/* Its source is overwritten as soon as it may be: the handler sees what was there before. */
static void send(gex_Rank_t to, int is_long, size_t bytes, int way, unsigned seed) {
  gex_Event_t event = GEX_EVENT_NO_OP;
  gex_Event_t *const lc_opt = local_completion(way, &event);
  const gex_AM_Arg_t argument = (gex_AM_Arg_t)seed;
  fill(local, bytes, seed);
  if (is_long)
    EXPECT_EQ(gex_AM_RequestLong1(team, to, on_payload_index, local, bytes, part(to), lc_opt, 0,
                                  argument),
              0);
  else
    EXPECT_EQ(gex_AM_RequestMedium1(team, to, on_payload_index, local, bytes, lc_opt, 0, argument),
              0);
  finish(way, event);
  memset(local, 0xdd, bytes);
}

static void send_in_every_way(int is_long, const size_t *sizes, int count) {
  int sent = 0;
  wrong = echoes = 0;
  barrier();
  for (gex_Rank_t k = 0; k < nodes; ++k) {
    for (int way = 0; way < 4; ++way) {
      for (int i = 0; i < count; ++i) {
        send((me + k) % nodes, is_long, sizes[i], way, (unsigned)(i + way));
        ++sent;
        AWAIT(echoes, sent); /* the next Long goes where this one went */
      }
    }
  }
  EXPECT_EQ(echoes, sent);
  barrier();
  EXPECT_EQ(wrong, 0);
}

CASE(mediums_are_locally_complete_as_lc_opt_says, "GX-103 GX-104") {
  gex_Event_t any;
  const size_t most =
      least(medium_max(&any), least(medium_max(GEX_EVENT_NOW), medium_max(GEX_EVENT_GROUP)));
  const size_t sizes[] = {0, 1, 64, 512, most - 1, most};
  send_in_every_way(0, sizes, 6);
}

CASE(longs_are_locally_complete_as_lc_opt_says, "GX-103 GX-104") {
  const size_t sizes[] = {0, 1, 513, 9001, 65536, long_bytes()};
  send_in_every_way(1, sizes, 6);
}

/* The events are root events: of several calls at once, in an array, in any order. */
CASE(events_of_messages_are_waited_for_in_arrays, "GX-104") {
  enum { kEvents = 12 };
  gex_Event_t events[kEvents];
  const gex_Rank_t to = (me + 1) % nodes;
  const size_t bytes = least(20000, medium_max(&events[0]));
  wrong = echoes = 0;
  barrier();
  for (int i = 0; i < kEvents; ++i) {
    unsigned char *const source = local + (size_t)i * bytes, *const dest =
                                                                 part(to) + (size_t)i * bytes;
    events[kEvents - 1 - i] = GEX_EVENT_NO_OP;
    fill(source, bytes, (unsigned)i);
    if (i % 2)
      gex_AM_RequestMedium1(team, to, on_payload_index, source, bytes, &events[kEvents - 1 - i], 0,
                            i);
    else
      gex_AM_RequestLong1(team, to, on_payload_index, source, bytes, dest, &events[kEvents - 1 - i],
                          0, i);
  }
  for (int i = 0; i < kEvents; ++i) EXPECT(events[i] != GEX_EVENT_NO_OP);
  gex_Event_WaitSome(events, kEvents, 0);
  gex_Event_WaitAll(events, kEvents, 0);
  for (int i = 0; i < kEvents; ++i) EXPECT(events[i] == GEX_EVENT_INVALID);
  memset(local, 0xdd, kEvents * bytes);
  AWAIT(echoes, kEvents);
  barrier();
  EXPECT_EQ(wrong, 0);
}

/* Groups of requests alone: puts and gets are none of GEX_EC_AM, and GEX_EC_ALL covers messages. */
CASE(groups_of_messages_gather_in_gex_ec_am, "GX-104") {
  enum { kSends = 20 };
  const gex_Rank_t to = (me + 1) % nodes;
  wrong = echoes = 0;
  barrier();
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kSends; ++i) {
      fill(local + i * 500, 500, (unsigned)i);
      gex_AM_RequestLong1(team, to, on_payload_index, local + i * 500, 500, part(to) + i * 500,
                          GEX_EVENT_GROUP, 0, i);
    }
    if (round == 0)
      gex_NBI_Wait(GEX_EC_AM, 0);
    else
      while (gex_NBI_Test(GEX_EC_ALL, 0) != GASNET_OK) gasnet_AMPoll();
    memset(local, 0xdd, kSends * 500);
    AWAIT(echoes, kSends * (round + 1));
  }
  barrier();
  EXPECT_EQ(wrong, 0);
}

/* ---- Replies: NOW, or an event that is synchronised outside of the handler ----------------------
 */

static unsigned char reply_source[kMediumMax];
static gex_Event_t reply_event;
static _Atomic int replies, replied;
static struct {
  size_t bytes;
  int is_long, is_now;
} reply;

static void on_reply(gex_Token_t token, void *buf, size_t nbytes) {
  (void)token;
  if (nbytes != reply.bytes || !holds(buf, nbytes, 5)) ++wrong;
  ++replies;
}
EX_HANDLER(on_reply, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_MEDLONG, 0);
static void on_question(gex_Token_t token) {
  gex_Token_Info_t info;
  EXPECT_FIRST(replied);
  gex_Event_t *const lc_opt = reply.is_now ? GEX_EVENT_NOW : &reply_event;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  fill(reply_source, reply.bytes, 5);
  if (reply.is_long)
    EXPECT_EQ(gex_AM_ReplyLong0(token, on_reply_index, reply_source, reply.bytes,
                                part(info.gex_srcrank), lc_opt, 0),
              0);
  else
    EXPECT_EQ(gex_AM_ReplyMedium0(token, on_reply_index, reply_source, reply.bytes, lc_opt, 0), 0);
  if (reply.is_now) memset(reply_source, 0xdd, reply.bytes);
  ++replied;
}
EX_HANDLER(on_question, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0);

static void ask(gex_Rank_t to, int is_long, int is_now, size_t bytes) {
  reply.bytes = bytes;
  reply.is_long = is_long;
  reply.is_now = is_now;
  reply_event = GEX_EVENT_NO_OP;
  replies = replied = 0;
  barrier(); /* everyone's handler knows */
  EXPECT_EQ(gex_AM_RequestShort0(team, to, on_question_index, 0), 0);
  AWAIT(replied, 1);
  if (!is_now) {
    EXPECT(reply_event != GEX_EVENT_NO_OP);
    gex_Event_Wait(reply_event);
    memset(reply_source, 0xdd, bytes);
  }
  AWAIT(replies, 1);
  barrier();
}

CASE(replies_are_locally_complete_as_lc_opt_says, "GX-103 GX-104") {
  gex_Event_t any;
  const size_t most = least(gex_AM_MaxReplyMedium(team, GEX_RANK_INVALID, GEX_EVENT_NOW, 0, 0),
                            gex_AM_MaxReplyMedium(team, GEX_RANK_INVALID, &any, 0, 0));
  wrong = 0;
  for (gex_Rank_t k = 0; k < nodes; ++k) {
    const gex_Rank_t to = (me + k) % nodes;
    for (int is_now = 0; is_now < 2; ++is_now) {
      ask(to, 0, is_now, 0);
      ask(to, 0, is_now, 700);
      ask(to, 0, is_now, least(most, kMediumMax));
      ask(to, 1, is_now, 0);
      ask(to, 1, is_now, 700);
      ask(to, 1, is_now, long_bytes());
    }
  }
  EXPECT_EQ(wrong, 0);
}
