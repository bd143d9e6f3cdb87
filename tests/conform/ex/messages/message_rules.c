/* Rules that GASNet-EX's active messages share with GASNet-1's: buffers of Mediums, Longs in place,
 * categories of replies, handlers (GASNet-EX 0.19, "Fixed-Payload Active Messages"). */
#include "../ex.h"

enum { kBytes = 500, kAlignment = 16, kMany = 100 };

static unsigned char local[kBytes + kAlignment];
static _Atomic int requests, replies, wrong;

/* A Medium's buffer suits any type, and is the handler's to write to, in replies too. */
static void use_medium(void *buf, size_t nbytes, gex_AM_Arg_t seed) {
  if ((uintptr_t)buf % kAlignment != 0 || !holds(buf, nbytes, (unsigned)seed)) ++wrong;
  memset(buf, 0xdd, nbytes);
}
static void on_medium_reply(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed) {
  (void)token;
  use_medium(buf, nbytes, seed);
  ++replies;
}
EX_HANDLER(on_medium_reply, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_MEDIUM, 1);
static void on_medium(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t seed) {
  unsigned char copy[kBytes + 1];
  memcpy(copy + 1, buf, nbytes);
  use_medium(buf, nbytes, seed);
  EXPECT_EQ(
      gex_AM_ReplyMedium1(token, on_medium_reply_index, copy + 1, nbytes, GEX_EVENT_NOW, 0, seed),
      0);
}
EX_HANDLER(on_medium, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM, 1);

CASE(buffers_of_mediums_suit_any_type, "GX-109") {
  replies = wrong = 0;
  barrier();
  for (gex_Rank_t k = 0; k < nodes; ++k) {
    for (int i = 0; i < kMany; ++i) {
      const size_t bytes = (size_t)(i * 17) % kBytes + 1;
      unsigned char *const source = local + i % kAlignment;
      fill(source, bytes, (unsigned)i);
      EXPECT_EQ(gex_AM_RequestMedium1(team, (me + k) % nodes, on_medium_index, source, bytes,
                                      GEX_EVENT_NOW, 0, i),
                0);
    }
  }
  AWAIT(replies, kMany * (int)nodes);
  barrier();
  EXPECT_EQ(replies, kMany * nodes);
  EXPECT_EQ(wrong, 0);
}

/* ---- A request of any category may get a reply of any, or none ------------------------------- */

enum { kShort, kMedium, kLong, kNone };

static void *place_of_reply(gex_Rank_t owner) { return part(owner) + part_bytes() / 2; }
static void on_short_reply(gex_Token_t token) {
  (void)token;
  ++replies;
}
EX_HANDLER(on_short_reply, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 0);
static void on_payload_reply(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t is_long) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  const uintptr_t expected =
      (uintptr_t)segments[me].addr + info.gex_srcrank * part_bytes() + part_bytes() / 2;
  if (nbytes != kBytes || !holds(buf, nbytes, 6)) ++wrong;
  if (is_long && (uintptr_t)buf != expected) ++wrong;
  ++replies;
}
EX_HANDLER(on_payload_reply, GEX_FLAG_AM_REPLY | GEX_FLAG_AM_MEDLONG, 1);

static void reply_by(gex_Token_t token, gex_AM_Arg_t category) {
  unsigned char payload[kBytes];
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  fill(payload, kBytes, 6);
  if (category == kShort) EXPECT_EQ(gex_AM_ReplyShort0(token, on_short_reply_index, 0), 0);
  if (category == kMedium)
    EXPECT_EQ(
        gex_AM_ReplyMedium1(token, on_payload_reply_index, payload, kBytes, GEX_EVENT_NOW, 0, 0),
        0);
  if (category == kLong)
    EXPECT_EQ(gex_AM_ReplyLong1(token, on_payload_reply_index, payload, kBytes,
                                place_of_reply(info.gex_srcrank), GEX_EVENT_NOW, 0, 1),
              0);
  ++requests;
}
static void on_short(gex_Token_t token, gex_AM_Arg_t category) { reply_by(token, category); }
EX_HANDLER(on_short, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1);
static void on_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t category) {
  if (nbytes != kBytes || !holds(buf, nbytes, 5)) ++wrong;
  reply_by(token, category);
}
EX_HANDLER(on_payload, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG, 1);

static void request_by(int category, gex_Rank_t to, int wanted) {
  if (category == kShort) EXPECT_EQ(gex_AM_RequestShort1(team, to, on_short_index, 0, wanted), 0);
  if (category == kMedium)
    EXPECT_EQ(
        gex_AM_RequestMedium1(team, to, on_payload_index, local, kBytes, GEX_EVENT_NOW, 0, wanted),
        0);
  if (category == kLong)
    EXPECT_EQ(gex_AM_RequestLong1(team, to, on_payload_index, local, kBytes, part(to),
                                  GEX_EVENT_NOW, 0, wanted),
              0);
}

CASE(categories_of_requests_and_replies_are_independent, "GX-109") {
  requests = replies = wrong = 0;
  fill(local, kBytes, 5);
  barrier();
  for (gex_Rank_t k = 0; k < nodes; ++k)
    for (int category = kShort; category <= kLong; ++category)
      for (int wanted = kShort; wanted <= kNone; ++wanted)
        request_by(category, (me + k) % nodes, wanted);
  AWAIT(replies, 9 * (int)nodes);
  AWAIT(requests, 12 * (int)nodes);
  barrier();
  EXPECT_EQ(replies, 9 * nodes);
  EXPECT_EQ(requests, 12 * nodes);
  EXPECT_EQ(wrong, 0);
}
