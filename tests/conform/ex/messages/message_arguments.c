/* Every category of active message with every number of arguments, in its numbered and its counting
 * form: requests and replies, of fixed and of negotiated payloads (GASNet-EX 0.19). In a job of its
 * own, since it takes most of the handlers' indices. */
#include "../ex.h"

enum {
  kCounts = 17,
  kShapes = 3,
  kEntries = 2 * kShapes * kCounts,
  kPayloadBytes = 24,
  kSlotBytes = 64,
  kForms = 14
};

static _Atomic int requests[kCounts], replies[kCounts];

/* Each argument of each count has a value of its own, of either sign. */
static gex_AM_Arg_t value(int count, int i) {
  return (i % 2 ? -1 : 1) * (0x1234567 + count * 1000 + i);
}
static void check(int count, const gex_AM_Arg_t *arguments) {
  for (int i = 0; i < count; ++i) EXPECT_EQ(arguments[i], value(count, i));
}
static gex_AM_Entry_t entries[2][kShapes][kCounts];

/* A Long, and no Medium, is in the segment. */
static void check_payload(gex_Token_t token, int count, int is_reply, const void *buf,
                          size_t nbytes) {
  gex_Token_Info_t info;
  const uintptr_t offset = (uintptr_t)buf - (uintptr_t)segments[me].addr;
  if (gex_Token_Info(token, &info, GEX_TI_ENTRY) & GEX_TI_ENTRY)
    EXPECT_EQ(offset < segments[me].size,
              info.gex_entry->gex_index == entries[is_reply][2][count].gex_index);
  EXPECT_EQ(nbytes, kPayloadBytes);
  EXPECT(holds(buf, nbytes, (unsigned)count));
}

/* For M arguments: how handlers take them, name them and pass them on. */
#define TAKE_0
#define TAKE_1 TAKE_0, gex_AM_Arg_t a0
#define TAKE_2 TAKE_1, gex_AM_Arg_t a1
#define TAKE_3 TAKE_2, gex_AM_Arg_t a2
#define TAKE_4 TAKE_3, gex_AM_Arg_t a3
#define TAKE_5 TAKE_4, gex_AM_Arg_t a4
#define TAKE_6 TAKE_5, gex_AM_Arg_t a5
#define TAKE_7 TAKE_6, gex_AM_Arg_t a6
#define TAKE_8 TAKE_7, gex_AM_Arg_t a7
#define TAKE_9 TAKE_8, gex_AM_Arg_t a8
#define TAKE_10 TAKE_9, gex_AM_Arg_t a9
#define TAKE_11 TAKE_10, gex_AM_Arg_t a10
#define TAKE_12 TAKE_11, gex_AM_Arg_t a11
#define TAKE_13 TAKE_12, gex_AM_Arg_t a12
#define TAKE_14 TAKE_13, gex_AM_Arg_t a13
#define TAKE_15 TAKE_14, gex_AM_Arg_t a14
#define TAKE_16 TAKE_15, gex_AM_Arg_t a15
#define NAME_0
#define NAME_1 NAME_0, a0
#define NAME_2 NAME_1, a1
#define NAME_3 NAME_2, a2
#define NAME_4 NAME_3, a3
#define NAME_5 NAME_4, a4
#define NAME_6 NAME_5, a5
#define NAME_7 NAME_6, a6
#define NAME_8 NAME_7, a7
#define NAME_9 NAME_8, a8
#define NAME_10 NAME_9, a9
#define NAME_11 NAME_10, a10
#define NAME_12 NAME_11, a11
#define NAME_13 NAME_12, a12
#define NAME_14 NAME_13, a13
#define NAME_15 NAME_14, a14
#define NAME_16 NAME_15, a15
#define GIVE_0
#define GIVE_1 GIVE_0, v[0]
#define GIVE_2 GIVE_1, v[1]
#define GIVE_3 GIVE_2, v[2]
#define GIVE_4 GIVE_3, v[3]
#define GIVE_5 GIVE_4, v[4]
#define GIVE_6 GIVE_5, v[5]
#define GIVE_7 GIVE_6, v[6]
#define GIVE_8 GIVE_7, v[7]
#define GIVE_9 GIVE_8, v[8]
#define GIVE_10 GIVE_9, v[9]
#define GIVE_11 GIVE_10, v[10]
#define GIVE_12 GIVE_11, v[11]
#define GIVE_13 GIVE_12, v[12]
#define GIVE_14 GIVE_13, v[13]
#define GIVE_15 GIVE_14, v[14]
#define GIVE_16 GIVE_15, v[15]
#define FOR_EVERY_COUNT(X) \
  X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16)

/* The forms of a call: fixed payloads, then negotiated ones. */
enum { kShortM, kShort, kMediumM, kMedium, kLongM, kLong, kNegotiated };

struct call {
  gex_Rank_t to;     /* of a request */
  gex_Token_t token; /* of a reply */
  int form;
  gex_AM_Index_t on_short, on_medium, on_long;
  const void *payload;
  void *dest;
  const gex_AM_Arg_t *v;
};

/* sd: of a negotiated payload, else GEX_AM_SRCDESC_NO_OP. Returns what the call does. */
#define CALLS(M, Kind, PEER)                                                                       \
  static int send_##Kind##_##M(const struct call *c, gex_AM_SrcDesc_t sd) {                        \
    const gex_AM_Arg_t *const v = c->v;                                                            \
    gex_Event_t *const now = GEX_EVENT_NOW;                                                        \
    const size_t bytes = kPayloadBytes;                                                            \
    (void)v;                                                                                       \
    switch (c->form) {                                                                             \
      case kShortM:                                                                                \
        return gex_AM_##Kind##Short##M(PEER, c->on_short, 0 GIVE_##M);                             \
      case kShort:                                                                                 \
        return gex_AM_##Kind##Short(PEER, c->on_short, 0 GIVE_##M);                                \
      case kMediumM:                                                                               \
        return gex_AM_##Kind##Medium##M(PEER, c->on_medium, c->payload, bytes, now, 0 GIVE_##M);   \
      case kMedium:                                                                                \
        return gex_AM_##Kind##Medium(PEER, c->on_medium, c->payload, bytes, now, 0 GIVE_##M);      \
      case kLongM:                                                                                 \
        return gex_AM_##Kind##Long##M(PEER, c->on_long, c->payload, bytes, c->dest, now,           \
                                      0 GIVE_##M);                                                 \
      case kLong:                                                                                  \
        return gex_AM_##Kind##Long(PEER, c->on_long, c->payload, bytes, c->dest, now, 0 GIVE_##M); \
      case kNegotiated:                                                                            \
        gex_AM_Commit##Kind##Medium##M(sd, c->on_medium, bytes GIVE_##M);                          \
        break;                                                                                     \
      case kNegotiated + 1:                                                                        \
        gex_AM_Commit##Kind##Medium(sd, c->on_medium, bytes GIVE_##M);                             \
        break;                                                                                     \
      case kNegotiated + 2:                                                                        \
        return gex_AM_Commit##Kind##Medium##M##_v2(sd, c->on_medium, bytes, 0 GIVE_##M);           \
      case kNegotiated + 3:                                                                        \
        return gex_AM_Commit##Kind##Medium_v2(sd, c->on_medium, bytes, 0 GIVE_##M);                \
      case kNegotiated + 4:                                                                        \
        gex_AM_Commit##Kind##Long##M(sd, c->on_long, bytes, c->dest GIVE_##M);                     \
        break;                                                                                     \
      case kNegotiated + 5:                                                                        \
        gex_AM_Commit##Kind##Long(sd, c->on_long, bytes, c->dest GIVE_##M);                        \
        break;                                                                                     \
      case kNegotiated + 6:                                                                        \
        return gex_AM_Commit##Kind##Long##M##_v2(sd, c->on_long, bytes, c->dest, 0 GIVE_##M);      \
      default:                                                                                     \
        return gex_AM_Commit##Kind##Long_v2(sd, c->on_long, bytes, c->dest, 0 GIVE_##M);           \
    }                                                                                              \
    return 0;                                                                                      \
  }
#define PEER_OF_REQUEST team, c->to
#define REQUESTS(M) CALLS(M, Request, PEER_OF_REQUEST)
#define REPLIES(M) CALLS(M, Reply, c->token)
FOR_EVERY_COUNT(REQUESTS)
FOR_EVERY_COUNT(REPLIES)

static int (*const send_request[])(const struct call *, gex_AM_SrcDesc_t) = {
#define REQUEST_OF(M) send_Request_##M,
    FOR_EVERY_COUNT(REQUEST_OF)};
static int (*const send_reply[])(const struct call *, gex_AM_SrcDesc_t) = {
#define REPLY_OF(M) send_Reply_##M,
    FOR_EVERY_COUNT(REPLY_OF)};

/* ---- Handlers: of requests they answer in all forms, one after the other ------------------------
 */

enum { kOfRequests, kOfReplies };

static void *place(gex_Rank_t owner, int is_reply, int count) {
  return part(owner) + (is_reply ? kCounts + count : count) * kSlotBytes;
}
/* `form` of a call with `count` arguments that are `v`; to rank `to`. */
static struct call call_of(int form, gex_Rank_t to, int is_reply, int count, const void *payload,
                           const gex_AM_Arg_t *v) {
  const struct call call = {.to = to,
                            .form = form,
                            .on_short = entries[is_reply][0][count].gex_index,
                            .on_medium = entries[is_reply][1][count].gex_index,
                            .on_long = entries[is_reply][2][count].gex_index,
                            .payload = payload,
                            .dest = place(to, is_reply, count),
                            .v = v};
  return call;
}

static void reply_to(gex_Token_t token, int count, const gex_AM_Arg_t *arguments) {
  unsigned char payload[kPayloadBytes];
  gex_Token_Info_t info;
  gex_AM_SrcDesc_t sd = GEX_AM_SRCDESC_NO_OP;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  fill(payload, sizeof payload, (unsigned)count);
  struct call call =
      call_of(requests[count]++ % kForms, info.gex_srcrank, kOfReplies, count, payload, arguments);
  const unsigned numargs = (unsigned)count;
  const size_t bytes = sizeof payload;
  call.token = token;
  if (call.form >= kNegotiated + 4)
    sd =
        gex_AM_PrepareReplyLong(token, payload, bytes, bytes, call.dest, GEX_EVENT_NOW, 0, numargs);
  else if (call.form >= kNegotiated)
    sd = gex_AM_PrepareReplyMedium(token, payload, bytes, bytes, GEX_EVENT_NOW, 0, numargs);
  EXPECT_EQ(send_reply[count](&call, sd), 0);
}

#define HANDLERS(M)                                                                        \
  static void on_short_##M(gex_Token_t token TAKE_##M) {                                   \
    const gex_AM_Arg_t got[] = {0 NAME_##M};                                               \
    check(M, got + 1);                                                                     \
    reply_to(token, M, got + 1);                                                           \
  }                                                                                        \
  static void on_payload_##M(gex_Token_t token, void *buf, size_t nbytes TAKE_##M) {       \
    const gex_AM_Arg_t got[] = {0 NAME_##M};                                               \
    check(M, got + 1);                                                                     \
    check_payload(token, M, 0, buf, nbytes);                                               \
    reply_to(token, M, got + 1);                                                           \
  }                                                                                        \
  static void on_short_reply_##M(gex_Token_t token TAKE_##M) {                             \
    const gex_AM_Arg_t got[] = {0 NAME_##M};                                               \
    (void)token;                                                                           \
    check(M, got + 1);                                                                     \
    ++replies[M];                                                                          \
  }                                                                                        \
  static void on_payload_reply_##M(gex_Token_t token, void *buf, size_t nbytes TAKE_##M) { \
    const gex_AM_Arg_t got[] = {0 NAME_##M};                                               \
    (void)token;                                                                           \
    check(M, got + 1);                                                                     \
    check_payload(token, M, 1, buf, nbytes);                                               \
    ++replies[M];                                                                          \
  }
FOR_EVERY_COUNT(HANDLERS)

static const gex_AM_Fn_t functions[2][2][kCounts] = {
#define SHORT_OF(M) (gex_AM_Fn_t) on_short_##M,
#define PAYLOAD_OF(M) (gex_AM_Fn_t) on_payload_##M,
#define SHORT_REPLY_OF(M) (gex_AM_Fn_t) on_short_reply_##M,
#define PAYLOAD_REPLY_OF(M) (gex_AM_Fn_t) on_payload_reply_##M,
    {{FOR_EVERY_COUNT(SHORT_OF)}, {FOR_EVERY_COUNT(PAYLOAD_OF)}},
    {{FOR_EVERY_COUNT(SHORT_REPLY_OF)}, {FOR_EVERY_COUNT(PAYLOAD_REPLY_OF)}}};

static void register_all(void) {
  static const gex_Flags_t shapes[] = {GEX_FLAG_AM_SHORT, GEX_FLAG_AM_MEDIUM, GEX_FLAG_AM_LONG};
  for (int is_reply = 0; is_reply < 2; ++is_reply) {
    for (int shape = 0; shape < kShapes; ++shape) {
      for (unsigned count = 0; count < kCounts; ++count) {
        gex_AM_Entry_t *const entry = &entries[is_reply][shape][count];
        entry->gex_fnptr = functions[is_reply][shape > 0][count];
        entry->gex_flags = shapes[shape] | (is_reply ? GEX_FLAG_AM_REPLY : GEX_FLAG_AM_REQUEST);
        entry->gex_nargs = count;
      }
    }
  }
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, &entries[0][0][0], kEntries), GASNET_OK);
}

static void send_all_forms(gex_Rank_t to, int count) {
  unsigned char payload[kPayloadBytes];
  gex_AM_Arg_t v[kCounts];
  const unsigned numargs = (unsigned)count;
  const size_t bytes = sizeof payload;
  fill(payload, bytes, numargs);
  for (int i = 0; i < kCounts; ++i) v[i] = value(count, i);
  for (int form = 0; form < kForms; ++form) {
    const struct call call = call_of(form, to, kOfRequests, count, payload, v);
    gex_AM_SrcDesc_t sd = GEX_AM_SRCDESC_NO_OP;
    if (form >= kNegotiated + 4)
      sd = gex_AM_PrepareRequestLong(team, to, payload, bytes, bytes, call.dest, GEX_EVENT_NOW, 0,
                                     numargs);
    else if (form >= kNegotiated)
      sd = gex_AM_PrepareRequestMedium(team, to, payload, bytes, bytes, GEX_EVENT_NOW, 0, numargs);
    EXPECT_EQ(send_request[count](&call, sd), 0);
  }
}

JOB(every_category_and_count, "GX-102 GX-103 GX-109 GX-111", kNetwork, 0, "") {
  start_ex_job(0, kSegmentBytes);
  register_all();
  barrier();
  for (gex_Rank_t k = 0; k < nodes; ++k)
    for (int count = 0; count < kCounts; ++count) send_all_forms((me + k) % nodes, count);
  for (int count = 0; count < kCounts; ++count) AWAIT(replies[count], (int)nodes * kForms);
  barrier();
  for (int count = 0; count < kCounts; ++count) {
    EXPECT_EQ(requests[count], nodes * kForms);
    EXPECT_EQ(replies[count], nodes * kForms);
  }
}
