/* Every category of request with every category of reply, for every M from 0 to 16, to every rank
 * and to oneself, with payloads of 0, 1, odd and the largest size: C1-116...155.
 * am_matrix [STEP]: every M, or one in STEP, which divides 16 */
#include "../job_test.h"

enum { kShort, kMedium, kLong, kCategories };

static volatile unsigned replies;
static size_t expected_bytes;
static unsigned expected_seed;

/* Arguments are made from the index and M, with both signs. */
static gasnet_handlerarg_t arg(int m, int i) {
  return (i + 1) * 1000003 * ((i + m) % 2 ? -1 : 1) + m;
}

static void check_args(int m, const gasnet_handlerarg_t *args) {
  for (int i = 0; i < m; ++i) EXPECT_EQ(args[i], arg(m, i));
}

/* The first half of each segment is for requests, second half for replies. A slot for each sending rank. */
static size_t slot_bytes(void) { return segments[0].size / 2 / nodes / 4096 * 4096; }
static void *slot(gasnet_node_t owner, gasnet_node_t from, int is_reply) {
  return (char *)segments[owner].addr + (is_reply ? segments[owner].size / 2 : 0) + from * slot_bytes();
}

static unsigned char scratch[1 << 20];

/* The request's first act is to learn what reply is wanted: a byte of its own, not an argument, so that
 * M may be 0. Set by a barrier before each round. */
static int reply_category;
static size_t reply_bytes;

static void check_payload(int category, gasnet_token_t token, void *buf, size_t nbytes, int is_reply) {
  gasnet_node_t source = 99;
  EXPECT_EQ(gasnet_AMGetMsgSource(token, &source), GASNET_OK);
  EXPECT(source < nodes);
  if (category == kShort) return;
  EXPECT_EQ(nbytes, is_reply ? reply_bytes : expected_bytes);
  if (category == kMedium && nbytes != 0) EXPECT_EQ((uintptr_t)buf % 16, 0);
  if (category == kLong) EXPECT(buf == slot(me, source, is_reply));
  const unsigned seed = expected_seed + source + (is_reply ? 1000 : 0);
  const int is_right = holds(buf, nbytes, seed); /* once: late data may be right at a second look */
  if (!is_right) fprintf(stderr, "category %d, %zu bytes, reply %d\n", category, nbytes, is_reply);
  EXPECT(is_right);
}

#define PARAMS_0
#define LIST_0 0
#define CALL_0
#define PARAMS_1 , gasnet_handlerarg_t a0
#define LIST_1 a0
#define CALL_1 , arg(1, 0)
#define PARAMS_2 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1
#define LIST_2 a0, a1
#define CALL_2 , arg(2, 0) , arg(2, 1)
#define PARAMS_3 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2
#define LIST_3 a0, a1, a2
#define CALL_3 , arg(3, 0) , arg(3, 1) , arg(3, 2)
#define PARAMS_4 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2 \
  , gasnet_handlerarg_t a3
#define LIST_4 a0, a1, a2, a3
#define CALL_4 , arg(4, 0) , arg(4, 1) , arg(4, 2) , arg(4, 3)
#define PARAMS_5 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2 \
  , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4
#define LIST_5 a0, a1, a2, a3, a4
#define CALL_5 , arg(5, 0) , arg(5, 1) , arg(5, 2) , arg(5, 3) , arg(5, 4)
#define PARAMS_6 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2 \
  , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 , gasnet_handlerarg_t a5
#define LIST_6 a0, a1, a2, a3, a4, a5
#define CALL_6 , arg(6, 0) , arg(6, 1) , arg(6, 2) , arg(6, 3) , arg(6, 4) , arg(6, 5)
#define PARAMS_7 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2 \
  , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 , gasnet_handlerarg_t a5 \
  , gasnet_handlerarg_t a6
#define LIST_7 a0, a1, a2, a3, a4, a5, a6
#define CALL_7 , arg(7, 0) , arg(7, 1) , arg(7, 2) , arg(7, 3) , arg(7, 4) , arg(7, 5) , arg(7, 6)
#define PARAMS_8 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2 \
  , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 , gasnet_handlerarg_t a5 \
  , gasnet_handlerarg_t a6 , gasnet_handlerarg_t a7
#define LIST_8 a0, a1, a2, a3, a4, a5, a6, a7
#define CALL_8 , arg(8, 0) , arg(8, 1) , arg(8, 2) , arg(8, 3) , arg(8, 4) , arg(8, 5) , arg(8, 6) \
  , arg(8, 7)
#define PARAMS_9 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2 \
  , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 , gasnet_handlerarg_t a5 \
  , gasnet_handlerarg_t a6 , gasnet_handlerarg_t a7 , gasnet_handlerarg_t a8
#define LIST_9 a0, a1, a2, a3, a4, a5, a6, a7, a8
#define CALL_9 , arg(9, 0) , arg(9, 1) , arg(9, 2) , arg(9, 3) , arg(9, 4) , arg(9, 5) , arg(9, 6) \
  , arg(9, 7) , arg(9, 8)
#define PARAMS_10 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2 \
  , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 , gasnet_handlerarg_t a5 \
  , gasnet_handlerarg_t a6 , gasnet_handlerarg_t a7 , gasnet_handlerarg_t a8 \
  , gasnet_handlerarg_t a9
#define LIST_10 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9
#define CALL_10 , arg(10, 0) , arg(10, 1) , arg(10, 2) , arg(10, 3) , arg(10, 4) , arg(10, 5) \
  , arg(10, 6) , arg(10, 7) , arg(10, 8) , arg(10, 9)
#define PARAMS_11 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2 \
  , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 , gasnet_handlerarg_t a5 \
  , gasnet_handlerarg_t a6 , gasnet_handlerarg_t a7 , gasnet_handlerarg_t a8 \
  , gasnet_handlerarg_t a9 , gasnet_handlerarg_t a10
#define LIST_11 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10
#define CALL_11 , arg(11, 0) , arg(11, 1) , arg(11, 2) , arg(11, 3) , arg(11, 4) , arg(11, 5) \
  , arg(11, 6) , arg(11, 7) , arg(11, 8) , arg(11, 9) , arg(11, 10)
#define PARAMS_12 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2 \
  , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 , gasnet_handlerarg_t a5 \
  , gasnet_handlerarg_t a6 , gasnet_handlerarg_t a7 , gasnet_handlerarg_t a8 \
  , gasnet_handlerarg_t a9 , gasnet_handlerarg_t a10 , gasnet_handlerarg_t a11
#define LIST_12 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11
#define CALL_12 , arg(12, 0) , arg(12, 1) , arg(12, 2) , arg(12, 3) , arg(12, 4) , arg(12, 5) \
  , arg(12, 6) , arg(12, 7) , arg(12, 8) , arg(12, 9) , arg(12, 10) , arg(12, 11)
#define PARAMS_13 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2 \
  , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 , gasnet_handlerarg_t a5 \
  , gasnet_handlerarg_t a6 , gasnet_handlerarg_t a7 , gasnet_handlerarg_t a8 \
  , gasnet_handlerarg_t a9 , gasnet_handlerarg_t a10 , gasnet_handlerarg_t a11 \
  , gasnet_handlerarg_t a12
#define LIST_13 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12
#define CALL_13 , arg(13, 0) , arg(13, 1) , arg(13, 2) , arg(13, 3) , arg(13, 4) , arg(13, 5) \
  , arg(13, 6) , arg(13, 7) , arg(13, 8) , arg(13, 9) , arg(13, 10) , arg(13, 11) , arg(13, 12)
#define PARAMS_14 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2 \
  , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 , gasnet_handlerarg_t a5 \
  , gasnet_handlerarg_t a6 , gasnet_handlerarg_t a7 , gasnet_handlerarg_t a8 \
  , gasnet_handlerarg_t a9 , gasnet_handlerarg_t a10 , gasnet_handlerarg_t a11 \
  , gasnet_handlerarg_t a12 , gasnet_handlerarg_t a13
#define LIST_14 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13
#define CALL_14 , arg(14, 0) , arg(14, 1) , arg(14, 2) , arg(14, 3) , arg(14, 4) , arg(14, 5) \
  , arg(14, 6) , arg(14, 7) , arg(14, 8) , arg(14, 9) , arg(14, 10) , arg(14, 11) , arg(14, 12) \
  , arg(14, 13)
#define PARAMS_15 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2 \
  , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 , gasnet_handlerarg_t a5 \
  , gasnet_handlerarg_t a6 , gasnet_handlerarg_t a7 , gasnet_handlerarg_t a8 \
  , gasnet_handlerarg_t a9 , gasnet_handlerarg_t a10 , gasnet_handlerarg_t a11 \
  , gasnet_handlerarg_t a12 , gasnet_handlerarg_t a13 , gasnet_handlerarg_t a14
#define LIST_15 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14
#define CALL_15 , arg(15, 0) , arg(15, 1) , arg(15, 2) , arg(15, 3) , arg(15, 4) , arg(15, 5) \
  , arg(15, 6) , arg(15, 7) , arg(15, 8) , arg(15, 9) , arg(15, 10) , arg(15, 11) , arg(15, 12) \
  , arg(15, 13) , arg(15, 14)
#define PARAMS_16 , gasnet_handlerarg_t a0 , gasnet_handlerarg_t a1 , gasnet_handlerarg_t a2 \
  , gasnet_handlerarg_t a3 , gasnet_handlerarg_t a4 , gasnet_handlerarg_t a5 \
  , gasnet_handlerarg_t a6 , gasnet_handlerarg_t a7 , gasnet_handlerarg_t a8 \
  , gasnet_handlerarg_t a9 , gasnet_handlerarg_t a10 , gasnet_handlerarg_t a11 \
  , gasnet_handlerarg_t a12 , gasnet_handlerarg_t a13 , gasnet_handlerarg_t a14 \
  , gasnet_handlerarg_t a15
#define LIST_16 a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15
#define CALL_16 , arg(16, 0) , arg(16, 1) , arg(16, 2) , arg(16, 3) , arg(16, 4) , arg(16, 5) \
  , arg(16, 6) , arg(16, 7) , arg(16, 8) , arg(16, 9) , arg(16, 10) , arg(16, 11) , arg(16, 12) \
  , arg(16, 13) , arg(16, 14) , arg(16, 15)

/* Handlers 3 * M + category for requests and their replies. */
#define HANDLERS(M, PARAMS, LIST, CALL)                                                              \
  static void reply_##M(gasnet_token_t token) {                                                      \
    gasnet_node_t to = 0;                                                                            \
    gasnet_AMGetMsgSource(token, &to);                                                               \
    fill(scratch, reply_bytes, expected_seed + me + 1000);                                           \
    if (reply_category == kShort)                                                                    \
      EXPECT_EQ(gasnet_AMReplyShort##M(token, 179 + M CALL), GASNET_OK);                             \
    else if (reply_category == kMedium)                                                              \
      EXPECT_EQ(gasnet_AMReplyMedium##M(token, 196 + M, scratch, reply_bytes CALL), GASNET_OK);      \
    else                                                                                             \
      EXPECT_EQ(gasnet_AMReplyLong##M(token, 213 + M, scratch, reply_bytes, slot(to, me, 1) CALL),   \
                GASNET_OK);                                                                          \
    memset(scratch, 0, reply_bytes);                                                                 \
  }                                                                                                  \
  static void short_request_##M(gasnet_token_t token PARAMS) {                                       \
    const gasnet_handlerarg_t args[] = {LIST};                                                       \
    check_args(M, args);                                                                             \
    check_payload(kShort, token, NULL, 0, 0);                                                        \
    reply_##M(token);                                                                                \
  }                                                                                                  \
  static void medium_request_##M(gasnet_token_t token, void *buf, size_t nbytes PARAMS) {            \
    const gasnet_handlerarg_t args[] = {LIST};                                                       \
    check_args(M, args);                                                                             \
    check_payload(kMedium, token, buf, nbytes, 0);                                                   \
    reply_##M(token);                                                                                \
  }                                                                                                  \
  static void long_request_##M(gasnet_token_t token, void *buf, size_t nbytes PARAMS) {              \
    const gasnet_handlerarg_t args[] = {LIST};                                                       \
    check_args(M, args);                                                                             \
    check_payload(kLong, token, buf, nbytes, 0);                                                     \
    reply_##M(token);                                                                                \
  }                                                                                                  \
  static void short_reply_##M(gasnet_token_t token PARAMS) {                                         \
    const gasnet_handlerarg_t args[] = {LIST};                                                       \
    check_args(M, args);                                                                             \
    check_payload(kShort, token, NULL, 0, 1);                                                        \
    EXPECT_EQ(reply_category, kShort);                                                               \
    ++replies;                                                                                       \
  }                                                                                                  \
  static void medium_reply_##M(gasnet_token_t token, void *buf, size_t nbytes PARAMS) {              \
    const gasnet_handlerarg_t args[] = {LIST};                                                       \
    check_args(M, args);                                                                             \
    check_payload(kMedium, token, buf, nbytes, 1);                                                   \
    EXPECT_EQ(reply_category, kMedium);                                                              \
    ++replies;                                                                                       \
  }                                                                                                  \
  static void long_reply_##M(gasnet_token_t token, void *buf, size_t nbytes PARAMS) {                \
    const gasnet_handlerarg_t args[] = {LIST};                                                       \
    check_args(M, args);                                                                             \
    check_payload(kLong, token, buf, nbytes, 1);                                                     \
    EXPECT_EQ(reply_category, kLong);                                                                \
    ++replies;                                                                                       \
  }                                                                                                  \
  static int request_##M(gasnet_node_t to, int category, int is_async, void *source, size_t nbytes) { \
    if (category == kShort) return gasnet_AMRequestShort##M(to, 128 + M CALL);                       \
    if (category == kMedium) return gasnet_AMRequestMedium##M(to, 145 + M, source, nbytes CALL);     \
    if (is_async)                                                                                    \
      return gasnet_AMRequestLongAsync##M(to, 162 + M, source, nbytes, slot(to, me, 0) CALL);        \
    return gasnet_AMRequestLong##M(to, 162 + M, source, nbytes, slot(to, me, 0) CALL);               \
  }

HANDLERS(0, PARAMS_0, LIST_0, CALL_0)
HANDLERS(1, PARAMS_1, LIST_1, CALL_1)
HANDLERS(2, PARAMS_2, LIST_2, CALL_2)
HANDLERS(3, PARAMS_3, LIST_3, CALL_3)
HANDLERS(4, PARAMS_4, LIST_4, CALL_4)
HANDLERS(5, PARAMS_5, LIST_5, CALL_5)
HANDLERS(6, PARAMS_6, LIST_6, CALL_6)
HANDLERS(7, PARAMS_7, LIST_7, CALL_7)
HANDLERS(8, PARAMS_8, LIST_8, CALL_8)
HANDLERS(9, PARAMS_9, LIST_9, CALL_9)
HANDLERS(10, PARAMS_10, LIST_10, CALL_10)
HANDLERS(11, PARAMS_11, LIST_11, CALL_11)
HANDLERS(12, PARAMS_12, LIST_12, CALL_12)
HANDLERS(13, PARAMS_13, LIST_13, CALL_13)
HANDLERS(14, PARAMS_14, LIST_14, CALL_14)
HANDLERS(15, PARAMS_15, LIST_15, CALL_15)
HANDLERS(16, PARAMS_16, LIST_16, CALL_16)

#define ENTRY(index, function) {index, (void (*)())function}
static gasnet_handlerentry_t table[] = {
    ENTRY(128, short_request_0), ENTRY(145, medium_request_0),
    ENTRY(162, long_request_0), ENTRY(179, short_reply_0),
    ENTRY(196, medium_reply_0), ENTRY(213, long_reply_0),
    ENTRY(129, short_request_1), ENTRY(146, medium_request_1),
    ENTRY(163, long_request_1), ENTRY(180, short_reply_1),
    ENTRY(197, medium_reply_1), ENTRY(214, long_reply_1),
    ENTRY(130, short_request_2), ENTRY(147, medium_request_2),
    ENTRY(164, long_request_2), ENTRY(181, short_reply_2),
    ENTRY(198, medium_reply_2), ENTRY(215, long_reply_2),
    ENTRY(131, short_request_3), ENTRY(148, medium_request_3),
    ENTRY(165, long_request_3), ENTRY(182, short_reply_3),
    ENTRY(199, medium_reply_3), ENTRY(216, long_reply_3),
    ENTRY(132, short_request_4), ENTRY(149, medium_request_4),
    ENTRY(166, long_request_4), ENTRY(183, short_reply_4),
    ENTRY(200, medium_reply_4), ENTRY(217, long_reply_4),
    ENTRY(133, short_request_5), ENTRY(150, medium_request_5),
    ENTRY(167, long_request_5), ENTRY(184, short_reply_5),
    ENTRY(201, medium_reply_5), ENTRY(218, long_reply_5),
    ENTRY(134, short_request_6), ENTRY(151, medium_request_6),
    ENTRY(168, long_request_6), ENTRY(185, short_reply_6),
    ENTRY(202, medium_reply_6), ENTRY(219, long_reply_6),
    ENTRY(135, short_request_7), ENTRY(152, medium_request_7),
    ENTRY(169, long_request_7), ENTRY(186, short_reply_7),
    ENTRY(203, medium_reply_7), ENTRY(220, long_reply_7),
    ENTRY(136, short_request_8), ENTRY(153, medium_request_8),
    ENTRY(170, long_request_8), ENTRY(187, short_reply_8),
    ENTRY(204, medium_reply_8), ENTRY(221, long_reply_8),
    ENTRY(137, short_request_9), ENTRY(154, medium_request_9),
    ENTRY(171, long_request_9), ENTRY(188, short_reply_9),
    ENTRY(205, medium_reply_9), ENTRY(222, long_reply_9),
    ENTRY(138, short_request_10), ENTRY(155, medium_request_10),
    ENTRY(172, long_request_10), ENTRY(189, short_reply_10),
    ENTRY(206, medium_reply_10), ENTRY(223, long_reply_10),
    ENTRY(139, short_request_11), ENTRY(156, medium_request_11),
    ENTRY(173, long_request_11), ENTRY(190, short_reply_11),
    ENTRY(207, medium_reply_11), ENTRY(224, long_reply_11),
    ENTRY(140, short_request_12), ENTRY(157, medium_request_12),
    ENTRY(174, long_request_12), ENTRY(191, short_reply_12),
    ENTRY(208, medium_reply_12), ENTRY(225, long_reply_12),
    ENTRY(141, short_request_13), ENTRY(158, medium_request_13),
    ENTRY(175, long_request_13), ENTRY(192, short_reply_13),
    ENTRY(209, medium_reply_13), ENTRY(226, long_reply_13),
    ENTRY(142, short_request_14), ENTRY(159, medium_request_14),
    ENTRY(176, long_request_14), ENTRY(193, short_reply_14),
    ENTRY(210, medium_reply_14), ENTRY(227, long_reply_14),
    ENTRY(143, short_request_15), ENTRY(160, medium_request_15),
    ENTRY(177, long_request_15), ENTRY(194, short_reply_15),
    ENTRY(211, medium_reply_15), ENTRY(228, long_reply_15),
    ENTRY(144, short_request_16), ENTRY(161, medium_request_16),
    ENTRY(178, long_request_16), ENTRY(195, short_reply_16),
    ENTRY(212, medium_reply_16), ENTRY(229, long_reply_16),
};

static int (*const requests[17])(gasnet_node_t, int, int, void *, size_t) = {
    request_0, request_1, request_2, request_3, request_4, request_5,
    request_6, request_7, request_8, request_9, request_10, request_11,
    request_12, request_13, request_14, request_15, request_16,
};

static unsigned char source[1 << 20];

static void round_trips(int m, int category, int is_async, size_t bytes) {
  expected_bytes = bytes;
  const size_t reply_max = reply_category == kMedium ? gasnet_AMMaxMedium() : gasnet_AMMaxLongReply();
  reply_bytes = bytes < reply_max ? bytes : reply_max;
  ++expected_seed;
  barrier();
  for (gasnet_node_t k = 0; k < nodes; ++k) {
    const gasnet_node_t to = (me + k) % nodes;
    const unsigned before = replies;
    fill(source, bytes, expected_seed + me);
    EXPECT_EQ(requests[m](to, category, is_async, source, bytes), GASNET_OK);
    if (!is_async) memset(source, 0xee, bytes); /* reusable on return: C1-139, C1-144 */
    GASNET_BLOCKUNTIL(replies != before);
    EXPECT_EQ(replies, before + 1);
    if (reply_category == kLong) EXPECT(holds(slot(me, to, 1), reply_bytes, expected_seed + to + 1000));
  }
  barrier();
}

/* A link between two processes of one host loses nothing, however late they are, and a switch between them loses nothing of
   so few frames; so nothing is repeated. */
static void expect_few_repeats(uint64_t repeats_max) {
  const uint64_t duplicates = statistic("dpdk.rx_drop_duplicate");
  const uint64_t repeats = statistic("dpdk.retransmits") + duplicates;
  if (repeats <= repeats_max) return;
  fail_at(__FILE__, __LINE__, "%llu repeats after %llu timeouts, %llu questions, %llu frames refused; %llu duplicates",
          (unsigned long long)repeats, (unsigned long long)statistic("dpdk.timeouts"),
          (unsigned long long)statistic("dpdk.late_asks"), (unsigned long long)statistic("dpdk.rx_drop_refused"),
          (unsigned long long)duplicates);
}

int main(int argc, char **argv) {
  start_job(&argc, &argv, table, sizeof table / sizeof *table, 4 << 20);
  const size_t medium = gasnet_AMMaxMedium();
  EXPECT(medium >= 512 && gasnet_AMMaxLongRequest() >= 512 && gasnet_AMMaxLongReply() >= 512);
  EXPECT_EQ(gasnet_AMMaxArgs(), 16);
  size_t largest = slot_bytes() < sizeof source ? slot_bytes() : sizeof source;
  if (largest > gasnet_AMMaxLongRequest()) largest = gasnet_AMMaxLongRequest();
  if (largest > gasnet_AMMaxLongReply()) largest = gasnet_AMMaxLongReply();
  const int step = argc > 1 ? atoi(argv[1]) : 1;
  EXPECT(step > 0 && 16 % step == 0);
  for (int m = 0; m <= 16; m += step) {
    for (int category = 0; category < kCategories; ++category) {
      for (reply_category = 0; reply_category < kCategories; ++reply_category) {
        const size_t sizes[] = {0, 1, 77, category == kMedium ? medium : largest};
        for (int s = 0; s < (m % 4 == 0 ? 4 : 3); ++s) round_trips(m, category, 0, sizes[s]);
        if (category == kLong) round_trips(m, category, 1, m % 4 == 0 ? largest : 600);
      }
    }
  }
  EXPECT_EQ(gasnet_AMRequestShort0(nodes, 128), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gasnet_AMRequestMedium0(0, 145, source, medium + 1), GASNET_ERR_BAD_ARG);
  const char *repeats_max = getenv("REPEATS_MAX"); /* said for dpdk alone: other drivers count no repeats */
  if (repeats_max != NULL) expect_few_repeats(strtoull(repeats_max, NULL, 10));
  end_job("am_matrix");
}
