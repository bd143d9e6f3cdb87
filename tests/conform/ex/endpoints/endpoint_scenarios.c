/* Uses of the additions, from end to end: by the specification's names, by the proposal's, between
 * any two endpoints, and with an endpoint for each thread. */
#include <pthread.h>

#include "endpoints.h"

static gex_Rank_t next(void) { return (me + 1) % nodes; }

/* ---- from end to end, each by its own calls -------------------------------------------------- */

enum { kBytes = 70001, kRemotely = 1 };

static void start(gex_EP_t *ep0) {
  const int code =
      gex_Client_Init(&client, ep0, &team, "ADDITIONS", &program_argc, &program_argv, 0);
  if (code != GASNET_OK) exit(3);
  me = gex_TM_QueryRank(team);
  nodes = gex_TM_QuerySize(team);
  EXPECT_EQ(gex_Segment_Attach(&segment, team, GASNET_PAGESIZE), GASNET_OK);
}

/* Into memory of no segment, and into the local endpoint's. */
static void get_from(gex_TM_t tm, unsigned char *remote, unsigned char *in_segment) {
  static unsigned char outside[kBytes];
  EXPECT_EQ(gex_RMA_GetBlocking(tm, outside, next(), remote, kBytes, 0), 0);
  EXPECT(holds(outside, kBytes, next()));
  EXPECT_EQ(gex_RMA_GetBlocking(tm, in_segment, next(), remote, kBytes, 0), 0);
  EXPECT(holds(in_segment, kBytes, next()));
}

JOB(from_end_to_end, "EX-139", kNetwork, 0, "") {
  gex_EP_t ep0 = GEX_EP_INVALID, ep1 = GEX_EP_INVALID;
  gex_Segment_t own = GEX_SEGMENT_INVALID;
  gex_MK_t kind = GEX_MK_INVALID;
  gex_MK_Create_args_t args;
  void *remote = NULL;
  start(&ep0);
  memset(&args, 0, sizeof args);
  args.gex_class = GEX_MK_CLASS_HOST;
  EXPECT_EQ(gex_MK_Create(&kind, client, &args, 0), GASNET_OK);
  EXPECT_EQ(gex_Segment_Create(&own, client, NULL, 2 * kBytes, kind, 0), GASNET_OK);
  EXPECT_EQ(gex_EP_Create(&ep1, client, GEX_EP_CAPABILITY_RMA, 0), GASNET_OK);
  EXPECT_EQ(gex_EP_BindSegment(ep1, own, 0), GASNET_OK);
  unsigned char *memory = gex_Segment_QueryAddr(own);
  fill(memory, kBytes, me);
  EXPECT_EQ(gex_EP_PublishBoundSegment(team, &ep1, 1, 0), GASNET_OK);
  barrier();
  gex_Event_Wait(
      gex_EP_QueryBoundSegmentNB(gex_TM_Pair(ep0, kRemotely), next(), &remote, NULL, NULL, 0));
  EXPECT(remote != NULL);
  get_from(gex_TM_Pair(ep1, kRemotely), remote, memory + kBytes);
  barrier();
}

/* The proposal has no call that tells others of a segment: they ask (EX-081). */
JOB(from_end_to_end_as_proposed, "EX-043 EX-065 EX-081 EX-139", kNetwork, 0, "") {
  gex_EP_t ep0 = GEX_EP_INVALID, ep1 = GEX_EP_INVALID;
  gex_Segment_t own = GEX_SEGMENT_INVALID;
  const gex_MemKind_t kind = GEX_MEMKIND_HOST;
  static void *addresses[kNodesMax];
  start(&ep0);
  EXPECT_EQ(gex_Segment_Create(&own, client, NULL, 64 * GASNET_PAGESIZE, kind, 0), GASNET_OK);
  EXPECT_EQ(gex_EP_Create(&ep1, client, GEX_EP_CAPABILITY_RMA, 0), GASNET_OK);
  gex_Segment_EP_Bind(own, ep1, 0);
  EXPECT(gex_EP_QuerySegment(ep1) == own);
  addresses[me] = gex_Segment_QueryAddr(own);
  fill(addresses[me], kBytes, me);
  for (gex_Rank_t rank = 0; rank < nodes; ++rank)
    gex_Event_Wait(gex_Coll_BroadcastNB(team, rank, &addresses[rank], &addresses[rank],
                                        sizeof addresses[rank], 0));
  barrier();
  get_from(gex_TM_pair(ep1, kRemotely), addresses[next()], (unsigned char *)addresses[me] + kBytes);
  get_from(gex_TM_pair(ep0, kRemotely), addresses[next()], (unsigned char *)addresses[me] + kBytes);
  barrier();
}

/* ---- messages of further endpoints ----------------------------------------------------------- */

enum { kThreads = 3, kAsk = 200, kAnswer = 201, kPlaceBytes = 2048 };
static _Atomic int answers[kThreads];
static gex_EP_t made[kThreads]; /* a thread's; made[0] also serves by pairs */
static gex_Segment_t memories[kThreads];

static void on_ask(gex_Token_t token, void *buf, size_t nbytes, gex_AM_Arg_t thread,
                   gex_AM_Arg_t seed) {
  EXPECT(holds(buf, nbytes, (unsigned)seed));
  gex_AM_ReplyShort1(token, kAnswer, 0, thread);
}
/* To the endpoint that had asked. */
static void on_answer(gex_Token_t token, gex_AM_Arg_t thread) {
  gex_Token_Info_t info;
  EXPECT(answers[thread] >= 0); /* it orders made[] before (cases.h) */
  gex_Token_Info(token, &info, GEX_TI_EP);
  EXPECT(info.gex_ep == made[thread]);
  ++answers[thread];
}
/* Handlers of the first endpoint, for pairs: it has those of every case, so these have indices of
 * their own. */
static _Atomic int came_to_first, came_to_other;
static void on_first(gex_Token_t token) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_EP);
  EXPECT_EQ(gex_EP_QueryIndex(info.gex_ep), 0);
  ++came_to_first;
}
EX_HANDLER(on_first, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0);
static void on_other(gex_Token_t token) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_EP);
  EXPECT(gex_EP_QueryIndex(info.gex_ep) != 0);
  ++came_to_other;
}

static void make_endpoints(int count) {
  for (int i = 0; i < count; ++i) {
    gex_AM_Entry_t table[] = {
        {kAsk, (gex_AM_Fn_t)on_ask, GEX_FLAG_AM_MEDLONG | GEX_FLAG_AM_REQUEST, 2, NULL, "ask"},
        {kAnswer, (gex_AM_Fn_t)on_answer, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 1, NULL, "answer"},
        {202, (gex_AM_Fn_t)on_other, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "other"}};
    memories[i] = make_segment(NULL, kThreads * kNodesMax * kPlaceBytes);
    made[i] = make_endpoint(GEX_EP_CAPABILITY_ALL);
    EXPECT_EQ(gex_EP_BindSegment(made[i], memories[i], 0), GASNET_OK);
    EXPECT_EQ(gex_EP_RegisterHandlers(made[i], table, 3), GASNET_OK);
    answers[i] = 0;
  }
  EXPECT_EQ(gex_EP_PublishBoundSegment(team, made, (size_t)count, 0), GASNET_OK);
  barrier();
}

static void drop_segments(int count) {
  barrier();
  for (int i = 0; i < count; ++i) gex_Segment_Destroy(memories[i], 0);
  barrier();
}

/* ---- an endpoint for each thread ------------------------------------------------------------- */

static gex_TM_t tms[kThreads];

/* To every thread of every rank, by the thread's own endpoint: puts, gets, Mediums and Longs. */
static void *use_own_endpoint(void *argument) {
  const int thread = (int)(intptr_t)argument;
  const gex_TM_t tm = tms[thread];
  const gex_Rank_t self = gex_TM_QueryRank(tm), size = gex_TM_QuerySize(tm);
  unsigned char bytes[kPlaceBytes / 2];
  int due = 0;
  EXPECT(gex_TM_QueryEP(tm) == made[thread] && size == kThreads * nodes);
  for (gex_Rank_t step = 0; step < size; ++step) {
    const gex_Rank_t to = (self + step) % size;
    unsigned char *there =
        memory_of(tm, to, kThreads * kNodesMax * kPlaceBytes) + self * kPlaceBytes;
    expect_reached(tm, to, there, kPlaceBytes / 2, self + to);
    fill(bytes, sizeof bytes, self);
    EXPECT_EQ(gex_AM_RequestMedium2(tm, to, kAsk, bytes, 300, GEX_EVENT_NOW, 0, thread,
                                    (gex_AM_Arg_t)self),
              0);
    EXPECT_EQ(gex_AM_RequestLong2(tm, to, kAsk, bytes, sizeof bytes, there + kPlaceBytes / 2,
                                  GEX_EVENT_NOW, 0, thread, (gex_AM_Arg_t)self),
              0);
    due += 2;
  }
  AWAIT(answers[thread], due);
  return NULL;
}

/* At once in PAR; one thread by turns otherwise, which has them all. */
static void use_all_endpoints(void) {
#ifdef GASNET_PAR
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i)
    if (pthread_create(&threads[i], NULL, use_own_endpoint, (void *)(intptr_t)i) != 0) abort();
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
#else
  for (int i = 0; i < kThreads; ++i) use_own_endpoint((void *)(intptr_t)i);
#endif
}

CASE(an_endpoint_for_each_thread, "EX-140") {
  gex_EP_Location_t members[kThreads * kNodesMax];
  gex_Rank_t count = 0;
  make_endpoints(kThreads);
  for (gex_Rank_t rank = 0; rank < nodes; ++rank)
    for (int i = 0; i < kThreads; ++i)
      members[count++] = (gex_EP_Location_t){rank, gex_EP_QueryIndex(made[i])};
  gex_TM_Create(tms, kThreads, team, members, count, NULL, 0, GEX_FLAG_TM_NO_SCRATCH);
  use_all_endpoints();
  barrier();
  for (gex_Rank_t from = 0; from < count; ++from)
    for (int i = 0; i < kThreads; ++i) {
      const unsigned char *place =
          (unsigned char *)gex_Segment_QueryAddr(memories[i]) + from * kPlaceBytes;
      EXPECT(holds(place, kPlaceBytes / 2, from + gex_TM_QueryRank(tms[i])));
      EXPECT(holds(place + kPlaceBytes / 2, kPlaceBytes / 2, from));
    }
  barrier();
  for (int i = 0; i < kThreads; ++i) gex_TM_Destroy(tms[i], NULL, GEX_FLAG_GLOBALLY_QUIESCED);
  drop_segments(kThreads);
}

/* ---- from the first endpoint to another, and back -------------------------------------------- */

CASE(pairs_of_unlike_endpoints, "EX-138 EX-141") {
  unsigned char *there;
  make_endpoints(1);
  came_to_first = came_to_other = 0;
  barrier();
  const gex_TM_t to_other = gex_TM_Pair(endpoint, gex_EP_QueryIndex(made[0]));
  const gex_TM_t to_first = gex_TM_Pair(made[0], 0);
  there = memory_of(to_other, next(), kThreads * kNodesMax * kPlaceBytes);
  EXPECT(there != (unsigned char *)segments[next()].addr);
  expect_reached(to_other, next(), there, 900, 3 + me);
  EXPECT(memory_of(to_first, next(), kSegmentBytes) == segments[next()].addr);
  expect_reached(to_first, next(), part(next()), 900, 4 + me);
  gex_AM_RequestShort0(to_other, next(), 202, 0);
  gex_AM_RequestShort0(to_first, next(), on_first_index, 0);
  AWAIT(came_to_other, 1);
  AWAIT(came_to_first, 1);
  barrier();
  EXPECT_EQ(came_to_other + came_to_first, 2);
  EXPECT(holds(gex_Segment_QueryAddr(memories[0]), 900, 3 + (me + nodes - 1) % nodes));
  drop_segments(1);
}
