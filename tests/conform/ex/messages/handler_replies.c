/* Each way to reply, in a request handler that holds no lock (GX-017). */
#include "../ex.h"

enum { kBytes = 400, kShort, kMedium, kLong, kPreparedMedium, kPreparedLong, kCancelled, kKinds };

static _Atomic int replies;
static int expected;

static void on_short_reply(gex_Token_t token, gex_AM_Arg_t kind) {
  (void)token;
  EXPECT_FIRST(replies);
  EXPECT_EQ(kind, expected);
  ++replies;
}
EX_HANDLER(on_short_reply, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 1);
static void on_reply_bytes(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t kind) {
  gex_Token_Info_t info;
  EXPECT_FIRST(replies);
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  EXPECT_EQ(nbytes, kBytes);
  EXPECT(holds(buf, nbytes, (unsigned)kind + info.gex_srcrank));
  EXPECT_EQ(kind, expected);
  ++replies;
}
EX_HANDLER(on_reply_bytes, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_MEDLONG, 1);

/* Where the requester wants a Long. */
static unsigned char *place_of(gex_Rank_t requester) {
  return (unsigned char *)segments[requester].addr + me * part_bytes();
}

static void reply_prepared(gex_Token_t token, int kind, gex_Rank_t to) {
  gex_AM_SrcDesc_t sd = gex_AM_PrepareReplyMedium(token, NULL, kBytes, kBytes, NULL, 0, 1);
  EXPECT(gex_AM_SrcDescSize(sd) == kBytes && gex_AM_SrcDescAddr(sd) != NULL);
  if (kind == kPreparedMedium) {
    fill(gex_AM_SrcDescAddr(sd), kBytes, (unsigned)kind + me);
    gex_AM_CommitReplyMedium1(sd, on_reply_bytes_index, kBytes, kind);
    return;
  }
  EXPECT_EQ(gex_AM_CancelReplyMedium(sd, 0), 0);
  if (kind == kCancelled) {
    sd = gex_AM_PrepareReplyLong(token, NULL, kBytes, kBytes, place_of(to), NULL, 0, 1);
    EXPECT_EQ(gex_AM_CancelReplyLong(sd, 0), 0);
    gex_AM_ReplyShort1(token, on_short_reply_index, 0, kind);
    return;
  }
  sd = gex_AM_PrepareReplyLong(token, NULL, kBytes, kBytes, place_of(to), NULL, 0, 1);
  fill(gex_AM_SrcDescAddr(sd), kBytes, (unsigned)kind + me);
  gex_AM_CommitReplyLong1(sd, on_reply_bytes_index, kBytes, place_of(to), kind);
}
static void on_wish(gex_Token_t token, gex_AM_Arg_t kind) {
  unsigned char bytes[kBytes];
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  fill(bytes, kBytes, (unsigned)kind + me);
  if (kind == kShort)
    EXPECT_EQ(gex_AM_ReplyShort1(token, on_short_reply_index, 0, kind), 0);
  else if (kind == kMedium)
    EXPECT_EQ(
        gex_AM_ReplyMedium1(token, on_reply_bytes_index, bytes, kBytes, GEX_EVENT_NOW, 0, kind), 0);
  else if (kind == kLong)
    EXPECT_EQ(gex_AM_ReplyLong1(token, on_reply_bytes_index, bytes, kBytes,
                                place_of(info.gex_srcrank), GEX_EVENT_NOW, 0, kind),
              0);
  else
    reply_prepared(token, kind, info.gex_srcrank);
}
EX_HANDLER(on_wish, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1);

CASE(each_way_to_reply, "GX-017") {
  for (int kind = kShort; kind < kKinds; ++kind)
    for (gex_Rank_t to = 0; to < nodes; ++to) {
      expected = kind;
      replies = 0;
      gex_AM_RequestShort1(team, to, on_wish_index, 0, kind);
      AWAIT(replies, 1);
    }
}

/* In handlers gasnet_hold_interrupts and gasnet_resume_interrupts are ignored. */
static void on_hold(gex_Token_t token) {
  gasnet_hold_interrupts();
  gasnet_hold_interrupts();
  gasnet_resume_interrupts();
  gex_AM_ReplyShort1(token, on_short_reply_index, 0, kKinds);
}
EX_HANDLER(on_hold, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0);
CASE(hold_is_ignored_in_handlers, "GX-020") {
  for (gex_Rank_t to = 0; to < nodes; ++to) {
    expected = kKinds;
    replies = 0;
    gex_AM_RequestShort0(team, to, on_hold_index, 0);
    AWAIT(replies, 1);
  }
}
