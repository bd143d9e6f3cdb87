/* Binding (the additions, 4.3): whose memory a put through an endpoint reaches, and what is left
 * when a segment is destroyed ("Memory Kinds", 5). */
#include <sys/mman.h>

#include "../endpoints/endpoints.h"

enum { kPageBytes = 4096 };

static gex_Rank_t next(void) { return (me + 1) % nodes; }
static gex_Rank_t previous(void) { return (me + nodes - 1) % nodes; }

static void publish(gex_EP_t one) {
  EXPECT_EQ(gex_EP_PublishBoundSegment(team, &one, 1, 0), GASNET_OK);
  barrier();
}

/* ---- bound ----------------------------------------------------------------------------------- */

/* By both names of the call. Data that is put through one of them is got through each. */
CASE(one_segment_of_three_endpoints, "EX-065 EX-066 EX-068") {
  enum { kEndpoints = 3, kBytes = 3 * kPageBytes };
  gex_EP_t made[kEndpoints];
  unsigned char back[kBytes];
  const gex_Segment_t shared = make_segment(NULL, kBytes);
  for (int i = 0; i < kEndpoints; ++i) {
    made[i] = make_endpoint(GEX_EP_CAPABILITY_RMA);
    if (i % 2)
      gex_Segment_EP_Bind(shared, made[i], 0);
    else
      EXPECT_EQ(gex_EP_BindSegment(made[i], shared, 0), GASNET_OK);
  }
  EXPECT_EQ(gex_EP_PublishBoundSegment(team, made, kEndpoints, 0), GASNET_OK);
  for (int i = 0; i < kEndpoints; ++i) {
    const gex_TM_t tm = pair_of(endpoint, made[i]);
    unsigned char *there = memory_of(tm, next(), kBytes);
    EXPECT(gex_EP_QuerySegment(made[i]) == shared);
    expect_reached(tm, next(), there, kBytes, (unsigned)i + me);
    for (int j = 0; j < kEndpoints; ++j) {
      EXPECT(memory_of(pair_of(endpoint, made[j]), next(), kBytes) == there);
      EXPECT_EQ(gex_RMA_GetBlocking(pair_of(made[i], made[j]), back, next(), there, kBytes, 0), 0);
      EXPECT(holds(back, kBytes, (unsigned)i + me));
    }
  }
  barrier();
  EXPECT(holds(gex_Segment_QueryAddr(shared), kBytes, kEndpoints - 1 + previous()));
  gex_Segment_Destroy(shared, 0);
}

static void expect_not_bound(gex_EP_t ep, gex_Segment_t asked, gex_Flags_t flags) {
  gex_System_SetVerboseErrors(0);
  EXPECT_EQ(gex_EP_BindSegment(ep, asked, flags), GASNET_ERR_BAD_ARG);
  gex_System_SetVerboseErrors(1);
}

/* Pinwire tells what is erroneous, and nothing changes. */
CASE(what_cannot_be_bound, "EX-066 EX-067 EX-069") {
  const gex_EP_t made = make_endpoint(GEX_EP_CAPABILITY_RMA);
  const gex_Segment_t first = make_segment(NULL, kPageBytes),
                      second = make_segment(NULL, kPageBytes);
  expect_not_bound(made, GEX_SEGMENT_INVALID, 0);
  expect_not_bound(GEX_EP_INVALID, first, 0);
  expect_not_bound(made, first, 1);
  EXPECT(gex_EP_QuerySegment(made) == GEX_SEGMENT_INVALID);
  EXPECT_EQ(gex_EP_BindSegment(made, first, 0), GASNET_OK);
  expect_not_bound(made, second, 0);
  EXPECT(gex_EP_QuerySegment(made) == first && gex_EP_QuerySegment(endpoint) == segment);
  gex_Segment_Destroy(first, 0);
  gex_Segment_Destroy(second, 0);
}

/* Neither the first byte nor the last lies on any boundary; those beside them stay as they are. */
CASE(a_segment_of_any_alignment_is_reached_whole, "EX-057 EX-058 EX-066 EX-138") {
  enum { kBefore = 13, kBytes = 2 * kPageBytes + 77 };
  static unsigned char memory[kBefore + kBytes + 100];
  const gex_EP_t made = make_endpoint(GEX_EP_CAPABILITY_RMA);
  memset(memory, 0x3c, sizeof memory);
  const gex_Segment_t odd = make_segment(memory + kBefore, kBytes);
  EXPECT_EQ(gex_EP_BindSegment(made, odd, 0), GASNET_OK);
  EXPECT(all_bytes_are(memory, sizeof memory, 0x3c));
  publish(made);
  const gex_TM_t tm = pair_of(endpoint, made);
  unsigned char *there = memory_of(tm, next(), kBytes);
  expect_reached(tm, next(), there, 1, 1);
  expect_reached(tm, next(), there + kBytes - 1, 1, 2);
  expect_reached(tm, next(), there, kBytes, 40 + me);
  barrier();
  EXPECT(holds(memory + kBefore, kBytes, 40 + previous()));
  EXPECT(all_bytes_are(memory, kBefore, 0x3c));
  EXPECT(all_bytes_are(memory + kBefore + kBytes, sizeof memory - kBefore - kBytes, 0x3c));
  gex_Segment_Destroy(odd, 0);
}

/* Segments overlap each other, and the segment of gex_Segment_Attach: the bytes are the same ones.
 */
CASE(segments_overlap, "EX-057 EX-062") {
  enum { kApart = 1000, kBytes = 5000 };
  gex_EP_t made[2];
  gex_Segment_t overlapping[2];
  unsigned char back[kBytes - kApart];
  for (int i = 0; i < 2; ++i) {
    made[i] = make_endpoint(GEX_EP_CAPABILITY_RMA);
    overlapping[i] = make_segment(part(me) + i * kApart, kBytes);
    EXPECT_EQ(gex_EP_BindSegment(made[i], overlapping[i], 0), GASNET_OK);
  }
  EXPECT_EQ(gex_EP_PublishBoundSegment(team, made, 2, 0), GASNET_OK);
  barrier();
  const gex_TM_t tms[] = {pair_of(endpoint, made[0]), pair_of(endpoint, made[1]), team};
  unsigned char *common = memory_of(tms[1], next(), kBytes);
  EXPECT(common == memory_of(tms[0], next(), kBytes) + kApart);
  for (int i = 0; i < 3; ++i) {
    expect_reached(tms[i], next(), common, sizeof back, (unsigned)i + me);
    gex_RMA_GetBlocking(tms[(i + 1) % 3], back, next(), common, sizeof back, 0);
    EXPECT(holds(back, sizeof back, (unsigned)i + me));
  }
  barrier();
  for (int i = 0; i < 2; ++i) gex_Segment_Destroy(overlapping[i], 0);
  EXPECT(holds(part(me) + kApart, sizeof back, 2 + previous()));
}

/* ---- outside the bound segment --------------------------------------------------------------- */

static volatile int never;
static void on_long(gex_Token_t token, void *buf, size_t nbytes) {
  (void)token, (void)buf, (void)nbytes;
}

/* A further endpoint of each rank, with a handler and a segment. */
static gex_EP_t start_with_another(void) {
  gex_AM_Entry_t table[] = {
      {200, (gex_AM_Fn_t)on_long, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 0, NULL, "long"}};
  start_ex_job(0, kPageBytes);
  const gex_EP_t made = make_endpoint(GEX_EP_CAPABILITY_ALL);
  EXPECT_EQ(gex_EP_RegisterHandlers(made, table, 1), GASNET_OK);
  EXPECT_EQ(gex_EP_BindSegment(made, make_segment(NULL, kPageBytes), 0), GASNET_OK);
  publish(made);
  memory_of(pair_of(endpoint, made), 1, kPageBytes);
  return made;
}

/* It is in a segment of that process, but not of that endpoint. */
JOB(put_to_the_segment_of_another_endpoint, "EX-138", kNetwork, 134,
    BY_BUILD("outside the segment of rank 1", "not in the segment of node 1")) {
  char byte = 1;
  const gex_EP_t made = start_with_another();
  if (me == 0) gex_RMA_PutBlocking(pair_of(endpoint, made), 1, segments[1].addr, &byte, 1, 0);
  GASNET_BLOCKUNTIL(never);
}
JOB(put_of_another_endpoint_to_the_first, "EX-138", kLocal, 134,
    BY_BUILD("outside the segment of rank 1", "not in the segment of node 1")) {
  char byte = 1;
  const gex_EP_t made = start_with_another();
  unsigned char *there = memory_of(pair_of(endpoint, made), 1, kPageBytes);
  if (me == 0) gex_RMA_PutBlocking(gex_TM_Pair(made, 0), 1, there, &byte, 1, 0);
  GASNET_BLOCKUNTIL(never);
}
JOB(long_to_the_segment_of_another_endpoint, "EX-138", kNetwork, 134,
    BY_BUILD("outside the target's segment", "not in the segment of node 1")) {
  char byte = 1;
  const gex_EP_t made = start_with_another();
  if (me == 0)
    gex_AM_RequestLong0(pair_of(endpoint, made), 1, 200, &byte, 1, segments[1].addr, GEX_EVENT_NOW,
                        0);
  GASNET_BLOCKUNTIL(never);
}

/* The proposal's call has no result to tell it by. */
JOB(a_second_binding_as_proposed, "EX-065 EX-067", kLocal, 134,
    "gex_Segment_EP_Bind: GASNET_ERR_BAD_ARG") {
  const gex_EP_t made = start_with_another();
  gex_Segment_EP_Bind(gex_EP_QuerySegment(made), made, 0);
}

/* ---- destroyed ------------------------------------------------------------------------------- */

enum { kAsk = 200, kAnswer = 201 };
static _Atomic int asked, answered;
static void on_ask(gex_Token_t token, void *buf, size_t nbytes) {
  EXPECT(holds(buf, nbytes, 6));
  ++asked;
  gex_AM_ReplyShort0(token, kAnswer, 0);
}
static void on_answer(gex_Token_t token) {
  (void)token;
  ++answered;
}

/* Messages without memory go on, and so do puts by it to memory of others (EX-085). */
CASE(an_endpoint_stays_bound_to_a_dead_segment, "EX-083 EX-086") {
  unsigned char word[100];
  const gex_EP_t made = make_endpoint(GEX_EP_CAPABILITY_ALL);
  const gex_Segment_t dead = make_segment(NULL, kPageBytes);
  gex_AM_Entry_t table[] = {
      {kAsk, (gex_AM_Fn_t)on_ask, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL, "ask"},
      {kAnswer, (gex_AM_Fn_t)on_answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 0, NULL, "answer"}};
  EXPECT_EQ(gex_EP_RegisterHandlers(made, table, 2), GASNET_OK);
  EXPECT_EQ(gex_EP_BindSegment(made, dead, 0), GASNET_OK);
  asked = answered = 0;
  publish(made);
  const gex_TM_t tm = pair_of(made, made);
  expect_reached(tm, next(), memory_of(tm, next(), kPageBytes), kPageBytes, me);
  barrier();
  gex_Segment_Destroy(dead, 0);
  EXPECT(gex_EP_QuerySegment(made) != GEX_SEGMENT_INVALID);
  barrier();
  fill(word, sizeof word, 6);
  EXPECT_EQ(gex_AM_RequestMedium0(tm, next(), kAsk, word, sizeof word, GEX_EVENT_NOW, 0), 0);
  AWAIT(answered, 1);
  AWAIT(asked, 1);
  expect_reached(pair_of(made, endpoint), next(), part(next()), 500, 31 + me);
  barrier();
}

/* The same addresses, again and again, with other memory behind them: what is there now is reached.
 */
JOB(registration_is_undone, "EX-054 EX-057 EX-083", kNetwork, 0, "") {
  enum { kRounds = 12, kBytes = 20 * kPageBytes };
  unsigned char *memory = mmap(NULL, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  start_ex_job(0, kPageBytes);
  for (unsigned round = 0; round < kRounds; ++round) {
    unsigned char back[kPageBytes];
    const gex_EP_t made = make_endpoint(GEX_EP_CAPABILITY_RMA);
    EXPECT(mmap(memory, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                0) == memory);
    fill(memory + 5 * kPageBytes, kPageBytes, round + me);
    const gex_Segment_t bound = make_segment(memory + 3, kBytes - 3);
    EXPECT_EQ(gex_EP_BindSegment(made, bound, 0), GASNET_OK);
    publish(made);
    const gex_TM_t tm = pair_of(endpoint, made);
    unsigned char *there = memory_of(tm, next(), kBytes - 3);
    gex_RMA_GetBlocking(tm, back, next(), there - 3 + 5 * kPageBytes, sizeof back, 0);
    EXPECT(holds(back, sizeof back, round + next()));
    expect_reached(tm, next(), there, kBytes - 3, round);
    barrier();
    EXPECT(holds(memory + 3, kBytes - 3, round));
    gex_Segment_Destroy(bound, 0);
    EXPECT_EQ(
        mmap(memory, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == memory,
        1);
  }
}
