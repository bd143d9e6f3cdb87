/* Rules of handlers, and how they run (2.3.5, 2.4.1). */
#include "gasnet1.h"

static gasnet_hsl_t hsl = GASNET_HSL_INITIALIZER;
static _Atomic int replies, requests, asked, evaluations;

static void on_source_reply(gasnet_token_t token, int asker) {
  gasnet_node_t source = nodes;
  EXPECT_EQ(gasnet_AMGetMsgSource(token, &source), GASNET_OK);
  EXPECT_EQ(source, asked);
  EXPECT_EQ(asker, me);
  ++replies;
}
HANDLER(on_source_reply);
static void on_source(gasnet_token_t token, int asker) {
  gasnet_node_t source = nodes, again = nodes;
  EXPECT_EQ(gasnet_AMGetMsgSource(token, &source), GASNET_OK);
  EXPECT_EQ(gasnet_AMGetMsgSource(token, &again), GASNET_OK);
  EXPECT_EQ(source, asker);
  EXPECT_EQ(again, asker);
  gasnet_AMReplyShort1(token, on_source_reply_index, asker);
}
HANDLER(on_source);

CASE(source_of_requests_and_replies, "C1-156 C1-167 C1-168 C1-306") {
  for (gasnet_node_t k = 0; k < nodes; ++k) {
    asked = (int)((me + k) % nodes);
    replies = 0;
    gasnet_AMRequestShort1((gasnet_node_t)asked, on_source_index, (int)me);
    GASNET_BLOCKUNTIL(replies == 1);
  }
}

/* All that is legal in a handler, but ending the job: tests/job/exit. */
static void use_what_is_legal(void) {
  gasnet_hsl_t own;
  EXPECT(gasnet_mynode() == me && gasnet_nodes() == nodes);
  gasnet_hold_interrupts(); /* ignored: C1-183 */
  gasnet_resume_interrupts();
  gasnet_resume_interrupts();
  gasnet_hsl_init(&own);
  gasnet_hsl_lock(&own);
  gasnet_hold_interrupts(); /* ignored: C1-199 */
  gasnet_resume_interrupts();
  gasnet_hsl_unlock(&own);
  EXPECT_EQ(gasnet_hsl_trylock(&own), GASNET_OK);
  gasnet_hsl_unlock(&own);
  gasnet_hsl_destroy(&own);
  gasnet_hsl_lock(&hsl);
  gasnet_hsl_unlock(&hsl);
}
static void on_legal_reply(gasnet_token_t token) {
  (void)token;
  use_what_is_legal();
  ++replies;
}
HANDLER(on_legal_reply);
static void on_legal(gasnet_token_t token) {
  use_what_is_legal();
  gasnet_hold_interrupts();
  gasnet_AMReplyShort0(token, on_legal_reply_index);
  ++requests;
}
HANDLER(on_legal);

CASE(legal_calls_in_handlers, "C1-110 C1-173 C1-174 C1-183 C1-191 C1-199 PA-039") {
  for (gasnet_node_t k = 0; k < nodes; ++k) {
    requests = replies = 0;
    barrier();
    for (int i = 0; i < 10; ++i) gasnet_AMRequestShort0((me + k) % nodes, on_legal_index);
    GASNET_BLOCKUNTIL(replies == 10 && requests == 10);
    barrier();
  }
}

/* On one thread a handler is never interrupted by another: but by reply handlers, while it replies.
 */
static __thread int depth, is_replying;
static void enter(int is_reply) {
  EXPECT(depth == 0 || (is_reply && depth == 1 && is_replying));
  ++depth;
}
static void leave(void) { --depth; }
static void on_nested_reply(gasnet_token_t token, void *buf, size_t nbytes) {
  (void)token, (void)buf, (void)nbytes;
  enter(1);
  use_what_is_legal();
  leave();
  ++replies;
}
HANDLER(on_nested_reply);
static void on_nested(gasnet_token_t token, void *buf, size_t nbytes) {
  enter(0);
  use_what_is_legal();
  EXPECT(depth == 1);
  is_replying = 1;
  gasnet_AMReplyMedium0(token, on_nested_reply_index, buf, nbytes);
  is_replying = 0;
  EXPECT(depth == 1);
  leave();
}
HANDLER(on_nested);

CASE(handlers_are_not_interrupted, "C1-153 C1-154 C1-170 C1-205 PA-022") {
  static char payload[512];
  enum { kCount = 1000 };
  replies = 0;
  barrier();
  for (int i = 0; i < kCount; ++i) {
    EXPECT_EQ(depth, 0);
    gasnet_AMRequestMedium0((me + (gasnet_node_t)i) % nodes, on_nested_index, payload,
                            (size_t)i % sizeof payload);
  }
  GASNET_BLOCKUNTIL(replies == kCount);
}

static int count_and(int value) {
  ++evaluations;
  return value;
}

CASE(poll_and_blockuntil, "C1-157 C1-161 C1-165 C1-305") {
  EXPECT_EQ(gasnet_AMPoll(), GASNET_OK);
  evaluations = 0;
  GASNET_BLOCKUNTIL(count_and(1)); /* true at once: evaluated, and not for ever */
  EXPECT(evaluations >= 1);
  evaluations = replies = 0;
  asked = (int)((me + 1) % nodes);
  barrier();
  gasnet_AMRequestShort1((gasnet_node_t)asked, on_source_index, (int)me);
  GASNET_BLOCKUNTIL(count_and(replies == 1) && evaluations > 0);
  EXPECT_EQ(replies, 1);
}

/* Replies are optional (C1-118, C1-305): nothing of the library's own is seen. */
static _Atomic int quiet_requests;
static void on_quiet(gasnet_token_t token) {
  (void)token;
  ++quiet_requests;
}
HANDLER(on_quiet);

CASE(requests_without_reply, "C1-118 C1-305") {
  enum { kCount = 3000 }; /* more than any window of credits */
  replies = 0;
  quiet_requests = 0;
  barrier();
  for (int i = 0; i < kCount; ++i) gasnet_AMRequestShort0((me + 1) % nodes, on_quiet_index);
  GASNET_BLOCKUNTIL(quiet_requests == kCount);
  barrier();
  EXPECT_EQ(quiet_requests, kCount);
  EXPECT_EQ(replies, 0);
}

static void on_quiet_payload(gasnet_token_t token, void *buf, size_t nbytes) {
  (void)token;
  EXPECT(holds(buf, nbytes, (unsigned)nbytes));
  ++quiet_requests;
}
HANDLER(on_quiet_payload);

static void send_a_few(gasnet_node_t to, int count) {
  unsigned char source[300];
  for (int i = 0; i < count; ++i) {
    const size_t bytes = 1 + (size_t)i * 7 % sizeof source;
    fill(source, bytes, (unsigned)bytes);
    if (i % 3 == 0) gasnet_AMRequestShort0(to, on_quiet_index);
    if (i % 3 == 1) gasnet_AMRequestMedium0(to, on_quiet_payload_index, source, bytes);
    if (i % 3 == 2)
      gasnet_AMRequestLong0(to, on_quiet_payload_index, source, bytes, part(to) + i * 300);
  }
}

/* The receiver polls now and then, and makes no other call until all has come. */
CASE(delivered_to_a_receiver_that_polls_now_and_then, "C1-122") {
  enum { kCount = 600 };
  if (nodes < 2) NOT_HERE("one rank has nobody who polls seldom");
  quiet_requests = 0;
  barrier();
  if (me == 0) send_a_few(1, kCount);
  while (me == 1 && quiet_requests < kCount) {
    usleep(500);
    EXPECT_EQ(gasnet_AMPoll(), GASNET_OK);
  }
  barrier();
  if (me == 1) EXPECT_EQ(quiet_requests, kCount);
  barrier();
}

/* A rank that sends, and makes no other call, serves those who send to it: pauses grow, so that
 * only a rank that never serves sees the last of them. Not in a wait for credit: its peer takes
 * what it sends at once. */
CASE(sending_serves_peers, "C1-159 PA-049") {
  enum { kTurns = 13, kInTurn = 40 };
  if (nodes < 2) NOT_HERE("one rank has nobody to serve");
  quiet_requests = 0;
  barrier();
  if (me == 0) {
    gasnet_AMRequestShort0(1, on_quiet_index);
    while (!is_marked("sender_is_done")) gasnet_AMPoll();
  } else if (me == 1) {
    int turn = 0;
    for (; turn < kTurns && quiet_requests == 0; ++turn) {
      usleep(1000u << turn);
      for (int i = 0; i < kInTurn; ++i) gasnet_AMRequestShort0(0, on_quiet_index);
    }
    EXPECT(turn < kTurns || quiet_requests == 1);
    leave_mark("sender_is_done");
  }
  barrier();
  if (me == 1) EXPECT_EQ(quiet_requests, 1);
}
