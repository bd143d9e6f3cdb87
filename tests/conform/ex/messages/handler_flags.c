/* Categories and kinds of handlers (GASNet-EX 0.19, "Active messages"). */
#include "../ex.h"

static _Atomic int shorts, mediums, longs, replies;

static void on_short_reqrep(gex_Token_t token, gex_AM_Arg_t is_request) {
  ++shorts;
  if (is_request) gex_AM_ReplyShort1(token, 200, 0, 0);
}
static void on_medium_reqrep(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t is_request) {
  EXPECT(holds(buf, nbytes, 3));
  ++mediums;
  if (is_request) gex_AM_ReplyMedium1(token, 201, buf, nbytes, GEX_EVENT_NOW, 0, 0);
}
static void on_long_reqrep(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t is_request) {
  EXPECT(nbytes == 0 && buf == segments[me].addr);
  ++longs;
  if (is_request)
    gex_AM_ReplyLong1(token, 202, NULL, 0, segments[is_request - 1].addr, GEX_EVENT_NOW, 0, 0);
}
/* One handler for both; a request's is answered to another that takes both, too. */
static void on_medlong(gex_Token_t token, void *buf, size_t nbytes) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  gex_AM_ReplyMedium0(token, 204, buf, nbytes, GEX_EVENT_NOW, 0);
}
static void on_medlong_reply(gex_Token_t token, void *buf, size_t nbytes) {
  (void)token;
  EXPECT(holds(buf, nbytes, 4));
  ++replies;
}

enum { kMedLongRequest = GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST };
static const gex_AM_Entry_t handlers[] = {
    {.gex_index = 200,
     .gex_fnptr = (gex_AM_Fn_t)on_short_reqrep,
     .gex_flags = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQREP,
     .gex_nargs = 1},
    {.gex_index = 201,
     .gex_fnptr = (gex_AM_Fn_t)on_medium_reqrep,
     .gex_flags = GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQREP,
     .gex_nargs = 1},
    {.gex_index = 202,
     .gex_fnptr = (gex_AM_Fn_t)on_long_reqrep,
     .gex_flags = GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQREP,
     .gex_nargs = 1},
    {.gex_index = 203, .gex_fnptr = (gex_AM_Fn_t)on_medlong, .gex_flags = kMedLongRequest},
    {.gex_index = 204,
     .gex_fnptr = (gex_AM_Fn_t)on_medlong_reply,
     .gex_flags = GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REPLY}};

static void start(void) {
  gex_AM_Entry_t table[5];
  memcpy(table, handlers, sizeof table);
  start_ex_job(0, 65536);
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, table, 5), GASNET_OK);
  barrier();
}

JOB(every_category_is_reached, "GX-086", kNetwork, 0, "") {
  unsigned char payload[64];
  start();
  const gex_Rank_t to = (me + 1) % nodes;
  fill(payload, sizeof payload, 3);
  gex_AM_RequestShort1(team, to, 200, 0, 1);
  gex_AM_RequestMedium1(team, to, 201, payload, sizeof payload, GEX_EVENT_NOW, 0, 1);
  gex_AM_RequestLong1(team, to, 202, NULL, 0, segments[to].addr, GEX_EVENT_NOW, 0,
                      (gex_AM_Arg_t)me + 1);
  fill(payload, sizeof payload, 4);
  gex_AM_RequestMedium0(team, to, 203, payload, sizeof payload, GEX_EVENT_NOW, 0);
  gex_AM_RequestLong0(team, to, 203, payload, sizeof payload, segments[to].addr, GEX_EVENT_NOW, 0);
  AWAIT(shorts, 2);
  AWAIT(mediums, 2);
  AWAIT(longs, 2);
  AWAIT(replies, 2);
  barrier();
  EXPECT(shorts == 2 && mediums == 2 && longs == 2 && replies == 2);
}

JOB(every_combination_is_registered, "GX-086 GX-090", kLocal, 0, "") {
  static const gex_Flags_t categories[] = {GEX_FLAG_AM_SHORT, GEX_FLAG_AM_MEDIUM, GEX_FLAG_AM_LONG,
                                           GEX_FLAG_AM_MEDLONG};
  static const gex_Flags_t directions[] = {GEX_FLAG_AM_REQUEST, GEX_FLAG_AM_REPLY,
                                           GEX_FLAG_AM_REQREP};
  start_ex_job(0, 0);
  for (int c = 0; c < 4; ++c) {
    for (int d = 0; d < 3; ++d) {
      gex_AM_Entry_t entry = handlers[0];
      entry.gex_index = 0;
      entry.gex_flags = categories[c] | directions[d];
      entry.gex_nargs = (unsigned)c * 5; /* none, some, nearly all */
      EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, &entry, 1), GASNET_OK);
    }
  }
  gex_AM_Entry_t widest = handlers[0];
  widest.gex_index = 0;
  widest.gex_nargs = gex_AM_MaxArgs();
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, &widest, 1), GASNET_OK);
}

/* ---- Against what was registered ------------------------------------------------------------- */
/* The result is undefined; libraries that check their clients report it. */

static _Atomic int misused;
static void on_misuse(gex_Token_t token) {
  (void)token;
  ++misused;
}

/* Rank 0 sends what `entry` is not for. */
static void misuse(gex_Flags_t flags, unsigned nargs, int is_medium) {
  gex_AM_Entry_t entry = {.gex_index = 200,
                          .gex_fnptr = (gex_AM_Fn_t)on_misuse,
                          .gex_flags = flags,
                          .gex_nargs = nargs};
  start_ex_job(0, 0);
#ifndef GASNET_DEBUG
  NOT_HERE("this library does not check its clients");
#endif
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, &entry, 1), GASNET_OK);
  barrier();
  if (me == 0 && is_medium) gex_AM_RequestMedium0(team, 1, 200, &me, 4, GEX_EVENT_NOW, 0);
  if (me == 0 && !is_medium) gex_AM_RequestShort0(team, 1, 200, 0);
  if (me == 1) AWAIT(misused, 1);
}
JOB(medium_to_a_handler_of_shorts, "GX-086", kLocal, BY_BUILD(0, 134), BY_BUILD("", "GX-086")) {
  misuse(GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, 1);
}
JOB(short_to_a_handler_of_payloads, "GX-086", kLocal, BY_BUILD(0, 134), BY_BUILD("", "GX-086")) {
  misuse(GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 0, 0);
}
JOB(request_to_a_handler_of_replies, "GX-086", kLocal, BY_BUILD(0, 134), BY_BUILD("", "GX-086")) {
  misuse(GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, 0);
}
JOB(too_few_arguments_for_a_handler, "GX-086", kLocal, BY_BUILD(0, 134), BY_BUILD("", "GX-086")) {
  misuse(GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, 0);
}
