/* gex_Token_Info (GASNet-EX 0.19, "Active messages"). */
#include "../ex.h"

#if GASNET_SUPPORTS_TI_SRCRANK != 1 || GASNET_SUPPORTS_TI_EP != 1
#error "the sender and the endpoint are known of every message"
#endif
#ifdef GASNET_SUPPORTS_TI_ENTRY
#if GASNET_SUPPORTS_TI_ENTRY != 1
#error "GASNET_SUPPORTS_TI_ENTRY is 1 or undefined"
#endif
enum { kEntry = GEX_TI_ENTRY };
#else
enum { kEntry = 0 };
#endif
#ifdef GASNET_SUPPORTS_TI_IS_REQ
#if GASNET_SUPPORTS_TI_IS_REQ != 1
#error "GASNET_SUPPORTS_TI_IS_REQ is 1 or undefined"
#endif
enum { kIsReq = GEX_TI_IS_REQ };
#else
enum { kIsReq = 0 };
#endif
#ifdef GASNET_SUPPORTS_TI_IS_LONG
#if GASNET_SUPPORTS_TI_IS_LONG != 1
#error "GASNET_SUPPORTS_TI_IS_LONG is 1 or undefined"
#endif
enum { kIsLong = GEX_TI_IS_LONG };
#else
enum { kIsLong = 0 };
#endif
enum { kAlways = GEX_TI_SRCRANK | GEX_TI_EP, kSupported = kAlways | kEntry | kIsReq | kIsLong };

CASE(declarations, "GX-098 GX-100") {
  static const gex_TI_t bits[] = {GEX_TI_SRCRANK, GEX_TI_EP, GEX_TI_ENTRY, GEX_TI_IS_REQ,
                                  GEX_TI_IS_LONG};
  gex_TI_t (*const query)(gex_Token_t, gex_Token_Info_t *, gex_TI_t) = gex_Token_Info;
  gex_Token_Info_t info = {.gex_srcrank = 1, .gex_ep = endpoint, .gex_is_req = 1, .gex_is_long = 0};
  gex_Rank_t *const rank = &info.gex_srcrank;
  gex_EP_t *const ep = &info.gex_ep;
  const gex_AM_Entry_t **const entry = &info.gex_entry;
  gex_TI_t all = 0;
  for (int i = 0; i < 5; ++i) {
    EXPECT(bits[i] != 0 && (all & bits[i]) == 0);
    all |= bits[i];
  }
  EXPECT_EQ(GEX_TI_ALL & all, all);
  EXPECT(query != NULL && *rank == 1 && *ep == endpoint && *entry == NULL);
  EXPECT(info.gex_is_req && !info.gex_is_long);
}

/* ---- What each message's token tells --------------------------------------------------------- */

static _Atomic int questions, answers;

struct expected {
  gex_Rank_t source;
  gex_AM_Index_t index;
  gex_AM_Fn_t function;
  gex_Flags_t flags;
  unsigned nargs;
  int is_request, is_long;
};

static void check_fields(const gex_Token_Info_t *info, gex_TI_t known, struct expected expected) {
  if (known & GEX_TI_SRCRANK) EXPECT_EQ(info->gex_srcrank, expected.source);
  if (known & GEX_TI_EP) EXPECT(info->gex_ep == endpoint);
  if (known & GEX_TI_IS_REQ) EXPECT_EQ(info->gex_is_req != 0, expected.is_request);
  if (known & GEX_TI_IS_LONG) EXPECT_EQ(info->gex_is_long != 0, expected.is_long);
  if ((known & GEX_TI_ENTRY) == 0) return;
  EXPECT_EQ(info->gex_entry->gex_index, expected.index);
  EXPECT(info->gex_entry->gex_fnptr == expected.function);
  EXPECT_EQ(info->gex_entry->gex_flags, expected.flags);
  EXPECT_EQ(info->gex_entry->gex_nargs, expected.nargs);
}
/* With each mask there is: what was asked for and can be known is known. */
static void check_token(gex_Token_t token, struct expected expected) {
  for (gex_TI_t mask = 0; mask <= GEX_TI_ALL; ++mask) {
    gex_Token_Info_t info;
    memset(&info, 0x5a, sizeof info);
    const gex_TI_t known = gex_Token_Info(token, &info, mask & GEX_TI_ALL);
    EXPECT_EQ(known & mask & kSupported, mask & kSupported);
    check_fields(&info, known, expected);
  }
}

static void on_answer(gex_Token_t token, gex_AM_Arg_t source);
static void on_answer_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t source,
                              gex_AM_Arg_t is_long);
static void on_question(gex_Token_t token, gex_AM_Arg_t source);
static void on_question_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t source,
                                gex_AM_Arg_t is_long);
enum {
  kShortRequest = GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT,
  kShortReply = GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT,
  kRequest = GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDLONG,
  kReply = GEX_FLAG_AM_REPLY | GEX_FLAG_AM_MEDLONG
};
EX_HANDLER(on_answer, kShortReply, 1);
EX_HANDLER(on_answer_payload, kReply, 2);
EX_HANDLER(on_question, kShortRequest, 1);
EX_HANDLER(on_question_payload, kRequest, 2);

static void on_answer(gex_Token_t token, gex_AM_Arg_t source) {
  const struct expected expected = {
      (gex_Rank_t)source, on_answer_index, (gex_AM_Fn_t)on_answer, kShortReply, 1, 0, 0};
  check_token(token, expected);
  ++answers;
}
static void on_answer_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t source,
                              gex_AM_Arg_t is_long) {
  const struct expected expected = {(gex_Rank_t)source,
                                    on_answer_payload_index,
                                    (gex_AM_Fn_t)on_answer_payload,
                                    kReply,
                                    2,
                                    0,
                                    is_long};
  (void)buf, (void)nbytes;
  check_token(token, expected);
  ++answers;
}
static void on_question(gex_Token_t token, gex_AM_Arg_t source) {
  const struct expected expected = {
      (gex_Rank_t)source, on_question_index, (gex_AM_Fn_t)on_question, kShortRequest, 1, 1, 0};
  check_token(token, expected);
  ++questions;
  gex_AM_ReplyShort1(token, on_answer_index, 0, (gex_AM_Arg_t)me);
  check_token(token, expected); /* as before the reply */
}
static void on_question_payload(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t source,
                                gex_AM_Arg_t is_long) {
  const struct expected expected = {(gex_Rank_t)source,
                                    on_question_payload_index,
                                    (gex_AM_Fn_t)on_question_payload,
                                    kRequest,
                                    2,
                                    1,
                                    is_long};
  unsigned char *const back = part((gex_Rank_t)source);
  check_token(token, expected);
  ++questions;
  (void)buf;
  if (is_long)
    gex_AM_ReplyLong2(token, on_answer_payload_index, "bytes", nbytes, back, GEX_EVENT_NOW, 0,
                      (gex_AM_Arg_t)me, 1);
  else
    gex_AM_ReplyMedium2(token, on_answer_payload_index, "bytes", nbytes, GEX_EVENT_NOW, 0,
                        (gex_AM_Arg_t)me, 0);
}

static int due; /* questions to this rank and answers are as many */
static void ask_everybody(gex_TM_t tm) {
  const gex_AM_Arg_t mine = (gex_AM_Arg_t)me;
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    unsigned char *const place = part(gex_TM_TranslateRankToJobrank(tm, rank)) + 64;
    gex_AM_RequestShort1(tm, rank, on_question_index, 0, mine);
    gex_AM_RequestMedium2(tm, rank, on_question_payload_index, "five", 5, GEX_EVENT_NOW, 0, mine,
                          0);
    gex_AM_RequestMedium2(tm, rank, on_question_payload_index, NULL, 0, GEX_EVENT_NOW, 0, mine, 0);
    gex_AM_RequestLong2(tm, rank, on_question_payload_index, "five", 5, place, GEX_EVENT_NOW, 0,
                        mine, 1);
  }
  due += 4 * (int)nodes;
  AWAIT(answers, due);
  AWAIT(questions, due);
  barrier();
}

CASE(sender_endpoint_entry_and_kind, "GX-099 GX-100 GX-101") { ask_everybody(team); }

/* The sender is told by its rank in the job, whatever the team it used. */
CASE(sender_is_a_jobrank, "GX-099") {
  gex_TM_t backwards = GEX_TM_INVALID;
  gex_TM_Split(&backwards, team, 0, -(int)me, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  ask_everybody(backwards);
  gex_TM_Destroy(backwards, NULL, 0);
}

/* ---- Several endpoints; an entry that is the library's own ----------------------------------- */

static gex_EP_t further;
static _Atomic int received;
static void on_endpoint(gex_Token_t token, gex_AM_Arg_t index) {
  gex_Token_Info_t info;
  const gex_TI_t known = gex_Token_Info(token, &info, GEX_TI_ALL);
  EXPECT(info.gex_ep == (index ? further : endpoint));
  EXPECT(info.gex_srcrank < nodes);
  if (known & GEX_TI_ENTRY) {
    EXPECT(info.gex_entry->gex_cdata == (index ? (const void *)&further : (const void *)&endpoint));
    EXPECT(strcmp(info.gex_entry->gex_name, index ? "further" : "primordial") == 0);
    EXPECT(info.gex_entry->gex_fnptr == (gex_AM_Fn_t)on_endpoint);
    EXPECT_EQ(info.gex_entry->gex_index, 200);
  }
  ++received;
}

/* The table is overwritten as soon as it was read. */
static void register_for(gex_EP_t ep, const void *data, const char *name) {
  gex_AM_Entry_t entry = {.gex_index = 200,
                          .gex_fnptr = (gex_AM_Fn_t)on_endpoint,
                          .gex_flags = kShortRequest,
                          .gex_nargs = 1,
                          .gex_cdata = data,
                          .gex_name = name};
  EXPECT_EQ(gex_EP_RegisterHandlers(ep, &entry, 1), GASNET_OK);
  memset(&entry, 0xff, sizeof entry);
}

JOB(endpoint_that_received, "GX-099 GX-101", kNetwork, 0, "") {
  start_ex_job(0, 0);
  EXPECT_EQ(gex_EP_Create(&further, client, GEX_EP_CAPABILITY_ALL, 0), GASNET_OK);
  register_for(endpoint, &endpoint, "primordial");
  register_for(further, &further, "further");
  barrier();
  for (gex_Rank_t rank = 0; rank < nodes; ++rank) {
    for (gex_EP_Index_t index = 0; index < 2; ++index) {
      gex_AM_RequestShort1(gex_TM_Pair(endpoint, index), rank, 200, 0, (gex_AM_Arg_t)index);
      gex_AM_RequestShort1(gex_TM_Pair(further, index), rank, 200, 0, (gex_AM_Arg_t)index);
    }
  }
  AWAIT(received, 4 * (int)nodes);
}
