/* Replies with negotiated payloads (GASNet-EX 0.19, "Negotiated-Payload Active Messages"). */
#include "../ex.h"

enum { kBytes = 900, kSpare = 100, kSmall = 400, kTries = 5 };
/* How the handler of a request replies: any of these together. */
enum {
  kLong = 1,      /* else Medium */
  kClient = 2,    /* from memory of the client's, else from the library's */
  kEvent = 4,     /* of the client's memory: an event, else GEX_EVENT_NOW */
  kImmediate = 8, /* Prepare, and with kSecond the Commit */
  kSecond = 16,   /* the second version of Commit */
  kLate = 32,     /* a Long's dest_addr comes with the Commit */
  kGivenUp = 64,  /* something else is prepared before, and cancelled */
  kLess = 128,    /* the Commit sends kSmall bytes */
  kWays = 256
};

static unsigned char source[kBytes];
static gex_Event_t event;
static _Atomic int replied, replies, wrong;

/* The argument is the way. */
static void on_reply(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t way) {
  const size_t offset = (size_t)((unsigned char *)buf - (unsigned char *)segments[me].addr);
  (void)token;
  EXPECT_FIRST(replies);
  if (nbytes != (way & kLess ? kSmall : kBytes) || !holds(buf, nbytes, (unsigned)way)) ++wrong;
  EXPECT_EQ(offset < segments[me].size, (way & kLong) != 0);
  ++replies;
}
EX_HANDLER(on_reply, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_MEDLONG, 1);

static gex_AM_SrcDesc_t prepare(gex_Token_t token, int way, void *dest, gex_Flags_t flags) {
  const void *const client_buf = way & kClient ? source : NULL;
  gex_Event_t *const lc_opt = !client_buf ? NULL : way & kEvent ? &event : GEX_EVENT_NOW;
  const size_t most = client_buf ? kBytes : kBytes + kSpare;
  gex_AM_SrcDesc_t sd;
  if (way & kLong)
    sd = gex_AM_PrepareReplyLong(token, client_buf, kBytes, most, way & kLate ? NULL : dest, lc_opt,
                                 flags, 1);
  else
    sd = gex_AM_PrepareReplyMedium(token, client_buf, kBytes, most, lc_opt, flags, 1);
  if (sd == GEX_AM_SRCDESC_NO_OP) {
    EXPECT(flags & GEX_FLAG_IMMEDIATE);
    return sd;
  }
  EXPECT(gex_AM_SrcDescSize(sd) >= kBytes && gex_AM_SrcDescSize(sd) <= most);
  if (client_buf) EXPECT(gex_AM_SrcDescAddr(sd) == client_buf);
  if (!client_buf) EXPECT_EQ((uintptr_t)gex_AM_SrcDescAddr(sd) % 16, 0);
  return sd;
}
static gex_AM_SrcDesc_t prepare_somehow(gex_Token_t token, int way, void *dest) {
  for (int tries = 0; (way & kImmediate) && tries < kTries; ++tries) {
    const gex_AM_SrcDesc_t sd = prepare(token, way, dest, GEX_FLAG_IMMEDIATE);
    if (sd != GEX_AM_SRCDESC_NO_OP) return sd;
  }
  return prepare(token, way, dest, 0);
}

/* A failed Commit leaves everything as it was. */
static int commit_second(gex_AM_SrcDesc_t sd, int way, void *dest, size_t bytes,
                         gex_Flags_t flags) {
  return way & kLong ? gex_AM_CommitReplyLong1_v2(sd, on_reply_index, bytes, dest, flags, way)
                     : gex_AM_CommitReplyMedium1_v2(sd, on_reply_index, bytes, flags, way);
}
static void commit(gex_AM_SrcDesc_t sd, int way, void *dest) {
  const size_t bytes = way & kLess ? kSmall : kBytes;
  if (way & kSecond) {
    for (int tries = 0; (way & kImmediate) && tries < kTries; ++tries) {
      if (commit_second(sd, way, dest, bytes, GEX_FLAG_IMMEDIATE) == 0) return;
      EXPECT(holds(gex_AM_SrcDescAddr(sd), bytes, (unsigned)way));
    }
    EXPECT_EQ(commit_second(sd, way, dest, bytes, 0), 0);
  } else if (way & kLong) {
    gex_AM_CommitReplyLong1(sd, on_reply_index, bytes, dest, way);
  } else {
    gex_AM_CommitReplyMedium1(sd, on_reply_index, bytes, way);
  }
}

static void give_one_up(gex_Token_t token, int way, void *dest) {
  const gex_AM_SrcDesc_t sd = prepare(token, way, dest, 0);
  EXPECT_EQ(way & kLong ? gex_AM_CancelReplyLong(sd, 0) : gex_AM_CancelReplyMedium(sd, 0), 0);
}

static void on_request(gex_Token_t token, gex_AM_Arg_t way) {
  gex_Token_Info_t info;
  EXPECT_FIRST(replied);
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  void *const dest = part(info.gex_srcrank);
  if (way & kGivenUp) give_one_up(token, way ^ kLong ^ kClient, dest);
  fill(source, kBytes, (unsigned)way);
  event = GEX_EVENT_NO_OP;
  const gex_AM_SrcDesc_t sd = prepare_somehow(token, way, dest);
  if (!(way & kClient)) {
    memset(gex_AM_SrcDescAddr(sd), 0xdd, gex_AM_SrcDescSize(sd));
    fill(gex_AM_SrcDescAddr(sd), kBytes, (unsigned)way);
  }
  commit(sd, way, dest);
  if (!(way & kClient) || !(way & kEvent)) memset(source, 0xdd, kBytes);
  ++replied;
}
EX_HANDLER(on_request, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1);

/* The event is synchronised by the client, outside of the handler. */
static void ask(gex_Rank_t to, int way) {
  replied = replies = 0;
  barrier();
  EXPECT_EQ(gex_AM_RequestShort1(team, to, on_request_index, 0, way), 0);
  AWAIT(replied, 1);
  if ((way & kClient) && (way & kEvent)) {
    EXPECT(event != GEX_EVENT_NO_OP);
    gex_Event_Wait(event);
    memset(source, 0xdd, kBytes);
  }
  AWAIT(replies, 1);
  barrier();
}

/* Replies of kBytes are far below what every driver carries. */
static void expect_limits_allow_it(void) {
  const gex_Flags_t both[] = {GEX_FLAG_AM_PREPARE_LEAST_CLIENT, GEX_FLAG_AM_PREPARE_LEAST_ALLOC};
  for (int i = 0; i < 2; ++i) {
    const gex_Event_t *const lc_opt = i ? NULL : &event;
    EXPECT(gex_AM_MaxReplyMedium(team, GEX_RANK_INVALID, lc_opt, both[i], 1) >= kBytes);
    EXPECT(gex_AM_MaxReplyLong(team, GEX_RANK_INVALID, lc_opt, both[i], 1) >= kBytes);
  }
}

/* Everyone asks the next rank, and itself. */
static void ask_in_ways(int with, int without) {
  wrong = 0;
  for (gex_Rank_t k = 0; k < nodes && k < 2; ++k)
    for (int way = 0; way < kWays; ++way)
      if ((way & with) == with && (way & without) == 0) ask((me + k) % nodes, way);
  EXPECT_EQ(wrong, 0);
}
CASE(from_the_clients_memory, "GX-112 GX-114 GX-120") {
  expect_limits_allow_it();
  ask_in_ways(kClient, kImmediate | kSecond | kGivenUp);
}
CASE(from_the_librarys_buffer, "GX-112 GX-114 GX-115 GX-117 GX-120") {
  expect_limits_allow_it();
  ask_in_ways(0, kClient | kEvent | kImmediate | kSecond | kGivenUp);
}
CASE(dest_addr_with_the_commit, "GX-115") {
  expect_limits_allow_it();
  ask_in_ways(kLong | kLate, kImmediate | kGivenUp | kLess | kEvent);
}
CASE(immediate_or_not, "GX-116 GX-117") {
  expect_limits_allow_it();
  ask_in_ways(kImmediate, kGivenUp | kLate | kLess);
}
CASE(the_second_version_of_commit, "GX-117") {
  expect_limits_allow_it();
  ask_in_ways(kSecond, kGivenUp | kImmediate | kEvent);
}
CASE(a_cancelled_reply_leaves_room_for_another, "GX-118") {
  expect_limits_allow_it();
  ask_in_ways(kGivenUp, kImmediate | kSecond | kLate | kEvent);
}

/* As often as there are no resources to lose. */
static void on_cancelling_request(gex_Token_t token, gex_AM_Arg_t way) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  give_one_up(token, way, part(info.gex_srcrank));
  ++replied;
}
EX_HANDLER(on_cancelling_request, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1);
CASE(cancelled_replies_are_none, "GX-118") {
  enum { kMany = 300 };
  expect_limits_allow_it();
  replied = replies = 0;
  barrier();
  for (int i = 0; i < kMany; ++i)
    EXPECT_EQ(gex_AM_RequestShort1(team, (me + 1) % nodes, on_cancelling_request_index, 0, i % 4),
              0);
  AWAIT(replied, kMany);
  barrier();
  EXPECT_EQ(replies, 0);
}
