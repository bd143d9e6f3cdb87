/* Payloads of Medium and Long messages: sizes, places, and when their source is free
 * (2.3.3, 2.3.4). */
#include "gasnet1.h"

enum { kPayloadMax = 1 << 20, kFlood = 200 };

static unsigned char local[kPayloadMax + 64];
static _Atomic int requests, replies;

/* The payload that the running case expects. */
static struct {
  size_t bytes;
  unsigned seed;
} expected;
/* The reply of a request's handler. */
static struct {
  size_t bytes;
  int source_offset;
} reply;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static size_t medium_max(void) { return gasnet_AMMaxMedium(); }
/* A quarter of what one rank may write is left for replies. */
static size_t long_max(void) {
  return least(least(gasnet_AMMaxLongRequest(), gasnet_AMMaxLongReply()),
               least(kPayloadMax, part_bytes() / 4));
}
/* Where a Long from this rank lands at `owner`, a reply apart from a request. */
static unsigned char *place(gasnet_node_t owner, int is_reply) {
  return part(owner) + (is_reply ? part_bytes() / 2 : 0) + 1;
}
static unsigned char *place_from(gasnet_node_t source, int is_reply) {
  return (unsigned char *)segments[me].addr + source * part_bytes() +
         (is_reply ? part_bytes() / 2 : 0) + 1;
}

static void check_medium(void *buf, size_t nbytes) {
  EXPECT_EQ(nbytes, expected.bytes);
  if (nbytes == 0) return;
  EXPECT_EQ((uintptr_t)buf % 16, 0);
  EXPECT(holds(buf, nbytes, expected.seed));
  memset(buf, 0, nbytes); /* the handler's own until it returns */
}
static void check_long(gasnet_token_t token, void *buf, size_t nbytes, int is_reply) {
  gasnet_node_t source = nodes;
  gasnet_AMGetMsgSource(token, &source);
  EXPECT_EQ(nbytes, expected.bytes);
  EXPECT(buf == place_from(source, is_reply)); /* for no bytes too */
  EXPECT(holds(buf, nbytes, expected.seed));
}

static void on_reply_medium(gasnet_token_t token, void *buf, size_t nbytes) {
  (void)token;
  EXPECT_FIRST(replies);
  check_medium(buf, nbytes);
  ++replies;
}
HANDLER(on_reply_medium);
static void on_reply_long(gasnet_token_t token, void *buf, size_t nbytes) {
  EXPECT_FIRST(replies);
  check_long(token, buf, nbytes, 1);
  ++replies;
}
HANDLER(on_reply_long);
static void on_medium(gasnet_token_t token, void *buf, size_t nbytes) {
  static unsigned char source[kPayloadMax + 64];
  EXPECT_FIRST(requests);
  check_medium(buf, nbytes);
  fill(source + reply.source_offset, reply.bytes, expected.seed);
  EXPECT_EQ(gasnet_AMReplyMedium0(token, on_reply_medium_index,
                                  reply.bytes ? source + reply.source_offset : NULL, reply.bytes),
            GASNET_OK);
  memset(source, 0xee, reply.bytes + 64); /* free on return */
  ++requests;
}
HANDLER(on_medium);
static void on_long(gasnet_token_t token, void *buf, size_t nbytes) {
  static unsigned char source[kPayloadMax + 64];
  gasnet_node_t to = 0;
  EXPECT_FIRST(requests);
  check_long(token, buf, nbytes, 0);
  gasnet_AMGetMsgSource(token, &to);
  fill(source + reply.source_offset, reply.bytes, expected.seed);
  EXPECT_EQ(gasnet_AMReplyLong0(token, on_reply_long_index,
                                reply.bytes ? source + reply.source_offset : NULL, reply.bytes,
                                place(to, 1)),
            GASNET_OK);
  memset(source, 0xee, reply.bytes + 64);
  ++requests;
}
HANDLER(on_long);

static void round_trip(gasnet_node_t to, int is_long, size_t bytes, int offset, unsigned seed) {
  barrier();
  expected.bytes = reply.bytes = bytes;
  expected.seed = seed;
  reply.source_offset = offset;
  requests = replies = 0;
  fill(local + offset, bytes, seed);
  barrier();
  if (is_long)
    EXPECT_EQ(gasnet_AMRequestLong0(to, on_long_index, bytes ? local + offset : NULL, bytes,
                                    place(to, 0)),
              GASNET_OK);
  else
    EXPECT_EQ(gasnet_AMRequestMedium0(to, on_medium_index, bytes ? local + offset : NULL, bytes),
              GASNET_OK);
  memset(local + offset, 0xdd, bytes); /* C1-119: free on return */
  GASNET_BLOCKUNTIL(replies == 1 && requests == 1);
}

static const int offsets[] = {0, 1, 7, 16};

CASE(medium_sizes, "C1-119 C1-120 C1-125 C1-126 C1-139 C1-140 C1-141 C1-152") {
  const size_t sizes[] = {0, 1, 3, 64, 511, 512, 1000, medium_max() - 1, medium_max()};
  for (gasnet_node_t k = 0; k < nodes; ++k)
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; ++s)
      round_trip((me + k) % nodes, 0, sizes[s], offsets[s % 4], s + k);
}

CASE(long_sizes, "C1-119 C1-121 C1-125 C1-142 C1-144 C1-152 C1-303") {
  const size_t sizes[] = {0, 1, 3, 64, 511, 512, 1000, 9001, 65536, long_max() - 1, long_max()};
  for (gasnet_node_t k = 0; k < nodes; ++k)
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; ++s)
      round_trip((me + k) % nodes, 1, sizes[s], offsets[s % 4], s + k);
}

/* A source inside one's own segment, where drivers may send in place. */
CASE(long_from_the_segment, "C1-144 C1-145 C1-152") {
  const gasnet_node_t to = (me + 1) % nodes;
  unsigned char *const source = part(me) + part_bytes() / 4;
  expected.bytes = long_max() / 2;
  expected.seed = 77;
  reply.bytes = expected.bytes;
  reply.source_offset = 0;
  requests = replies = 0;
  fill(source, expected.bytes, expected.seed);
  barrier();
  EXPECT_EQ(gasnet_AMRequestLong0(to, on_long_index, source, expected.bytes, place(to, 0)),
            GASNET_OK);
  memset(source, 0xcc, expected.bytes);
  GASNET_BLOCKUNTIL(replies == 1 && requests == 1);
}

/* Many at once: each is whole when its handler runs, and comes once. */
static _Atomic int came[kFlood], echoes;
static void on_echo(gasnet_token_t token, int number) {
  (void)token;
  EXPECT_EQ(came[number], 0);
  ++came[number];
  ++echoes;
}
HANDLER(on_echo);
static void on_flood(gasnet_token_t token, void *buf, size_t nbytes, int number) {
  EXPECT(holds(buf, nbytes, (unsigned)number));
  gasnet_AMReplyShort1(token, on_echo_index, number);
}
HANDLER(on_flood);

CASE(every_message_comes_once, "C1-116 C1-137") {
  unsigned char source[700];
  for (gasnet_node_t k = 0; k < nodes; ++k) {
    const gasnet_node_t to = (me + k) % nodes;
    echoes = 0;
    for (int i = 0; i < kFlood; ++i) came[i] = 0;
    for (int i = 0; i < kFlood; ++i) {
      const size_t bytes = (size_t)(i * 3) % 500;
      fill(source, bytes, (unsigned)i);
      if (i % 2)
        gasnet_AMRequestMedium1(to, on_flood_index, source, bytes, i);
      else
        gasnet_AMRequestLong1(to, on_flood_index, source, bytes, part(to) + i * 700, i);
    }
    GASNET_BLOCKUNTIL(echoes == kFlood);
    for (int i = 0; i < kFlood; ++i) EXPECT_EQ(came[i], 1);
    barrier();
  }
}

/* LongAsync: the source belongs to the library until the reply handler begins, which changes it. */
static unsigned char async_heap[65536];
static unsigned char *async_source;
static size_t async_bytes;
static _Atomic int async_replies;
static void on_async_reply(gasnet_token_t token) {
  (void)token;
  EXPECT_FIRST(async_replies);
  memset(async_source, 0xbb, async_bytes);
  ++async_replies;
}
HANDLER(on_async_reply);
static void on_async(gasnet_token_t token, void *buf, size_t nbytes, int seed) {
  EXPECT(holds(buf, nbytes, (unsigned)seed));
  gasnet_AMReplyShort0(token, on_async_reply_index);
}
HANDLER(on_async);

CASE(async_source_is_free_when_the_reply_begins, "C1-146 C1-147") {
  static const size_t sizes[] = {0, 8, 512, 5000, 65536};
  for (gasnet_node_t k = 0; k < nodes; ++k) {
    const gasnet_node_t to = (me + k) % nodes;
    for (int in_segment = 0; in_segment < 2; ++in_segment) {
      async_source = in_segment ? part(me) + part_bytes() / 2 : async_heap;
      for (int s = 0; s < 5; ++s) {
        async_bytes = sizes[s];
        fill(async_source, sizes[s], 40u + (unsigned)s);
        async_replies = 0;
        EXPECT_EQ(gasnet_AMRequestLongAsync1(to, on_async_index, async_source, sizes[s],
                                             part(to) + 32, 40 + s),
                  GASNET_OK);
        GASNET_BLOCKUNTIL(async_replies == 1);
      }
    }
    barrier();
  }
}

/* A reply that is too long is refused, and another may follow. */
static void on_too_long(gasnet_token_t token) {
  gasnet_node_t to = 0;
  gasnet_AMGetMsgSource(token, &to);
  EXPECT_EQ(gasnet_AMReplyMedium0(token, on_reply_medium_index, local, medium_max() + 1),
            GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gasnet_AMReplyLong0(token, on_reply_long_index, local, gasnet_AMMaxLongReply() + 1,
                                place(to, 1)),
            GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gasnet_AMReplyShort0(token, on_async_reply_index), GASNET_OK);
}
HANDLER(on_too_long);

CASE(too_long_replies_are_refused, "C1-136 C1-152") {
  for (gasnet_node_t k = 0; k < nodes; ++k) {
    async_source = local;
    async_bytes = 0;
    async_replies = 0;
    gasnet_AMRequestShort0((me + k) % nodes, on_too_long_index);
    GASNET_BLOCKUNTIL(async_replies == 1);
    barrier();
  }
}

/* ---- a Long as large as there is memory for, in a segment of its own size -----------------------
 */

enum { kHuge = 64 << 20 };
static _Atomic int huge_came;
static void on_huge(gasnet_token_t token, void *buf, size_t nbytes) {
  (void)token;
  EXPECT(buf == segments[me].addr && holds(buf, nbytes, 3));
  ++huge_came;
}

JOB(largest_long, "C1-130 C1-142", kNetwork, 0, "") {
  gasnet_handlerentry_t table[] = {{200, (void (*)())on_huge}};
  unsigned char *const source = malloc(kHuge);
  start_job(table, 1, kHuge);
  const size_t bytes = least(gasnet_AMMaxLongRequest(), kHuge);
  if (!source) abort();
  fill(source, bytes, 3);
  barrier();
  if (me == 0) {
    EXPECT_EQ(gasnet_AMRequestLong0(1, 200, source, bytes, segments[1].addr), GASNET_OK);
    memset(source, 0, bytes);
  } else {
    GASNET_BLOCKUNTIL(huge_came == 1);
  }
  free(source);
}
