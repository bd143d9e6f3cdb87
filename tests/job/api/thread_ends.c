/* PAR: threads that come and go. Work that they leave under way ends in memory that is nobody else's (C1-244), the
 * threads after them have what they left (GX-040), and neither mappings nor address space grow with their number. */
#include <gasnetex.h>
#include <pthread.h>

#include "job_test.h"

enum { kSegmentBytes = 1 << 20, kPuts = 64, kTurns = 200, kThreads = 300, kMapsMore = 60, kHandler = 200 };

static gex_TM_t team;
static gex_EP_t endpoint;
static unsigned char source[8];
static unsigned char *there; /* the next rank's segment */
static gex_Rank_t next;

static void on_message(gex_Token_t token, void *payload, size_t bytes) {
  (void)token;
  (void)payload;
  (void)bytes;
}

static void *start_and_leave(void *unused) {
  for (int i = 0; i < kPuts; ++i) gex_RMA_PutNBI(team, next, there + 8 * i, source, sizeof source, GEX_EVENT_DEFER, 0);
  return unused;
}

static void *start_and_wait(void *unused) {
  start_and_leave(NULL);
  gex_NBI_Wait(GEX_EC_ALL, 0);
  return unused;
}

/* In one thread a put is started, in another it is synchronised. */
static void *start_for_another(void *event) {
  *(gex_Event_t *)event = gex_RMA_PutNB(team, next, there, source, sizeof source, GEX_EVENT_DEFER, 0);
  return NULL;
}
static void *wait_for_another(void *event) {
  gex_Event_Wait(*(gex_Event_t *)event);
  return NULL;
}

static void *use_all(void *unused) {
  gex_RMA_PutNBI(team, next, there, source, sizeof source, GEX_EVENT_NOW, 0);
  gex_NBI_BeginAccessRegion(0);
  gex_RMA_PutNBI(team, next, there, source, sizeof source, GEX_EVENT_NOW, 0);
  gex_Event_Wait(gex_NBI_EndAccessRegion(0));
  gex_Event_Wait(gex_RMA_PutNB(team, next, there, source, sizeof source, GEX_EVENT_NOW, 0));
  gex_AM_SrcDesc_t sd = gex_AM_PrepareRequestLong(team, next, NULL, 64, 64, there, NULL, 0, 0);
  EXPECT_EQ(gex_AM_CancelRequestLong(sd, 0), 0);
  gex_NBI_Wait(GEX_EC_ALL, 0);
  return unused;
}

static void in_a_thread(void *(*work)(void *), void *argument) {
  pthread_t thread;
  EXPECT_EQ(pthread_create(&thread, NULL, work, argument), 0);
  EXPECT_EQ(pthread_join(thread, NULL), 0);
}

static int mappings(void) {
  FILE *const maps = fopen("/proc/self/maps", "r");
  EXPECT(maps != NULL);
  int lines = 0;
  for (int c = getc(maps); c != EOF; c = getc(maps)) lines += c == '\n';
  fclose(maps);
  return lines;
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_Segment_t segment;
  if (gex_Client_Init(&client, &endpoint, &team, "THREAD_ENDS", &argc, &argv, 0) != GASNET_OK) return 1;
  me = gex_System_QueryJobRank();
  nodes = gex_System_QueryJobSize();
  next = (me + 1) % nodes;
  gex_AM_Entry_t entry = {kHandler, (gex_AM_Fn_t)on_message, GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 0, NULL, "on_message"};
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, &entry, 1), GASNET_OK);
  if (gex_Segment_Attach(&segment, team, kSegmentBytes) != GASNET_OK) gasnet_exit(1);
  void *base = NULL;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, next, &base, NULL, NULL, 0));
  there = base;
  gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
  for (int i = 0; i < kTurns; ++i) {
    gex_Event_t event;
    in_a_thread(start_and_leave, NULL);
    in_a_thread(start_and_wait, NULL);
    in_a_thread(start_for_another, &event);
    in_a_thread(wait_for_another, &event);
  }
  in_a_thread(use_all, NULL);
  const int before = mappings();
  for (int i = 0; i < kThreads; ++i) in_a_thread(use_all, NULL);
  EXPECT(mappings() <= before + kMapsMore);
  gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
  if (me == 0) printf("thread_ends: ok with %u ranks\n", (unsigned)nodes);
  fflush(stdout);
  gasnet_exit(0);
  return 0;
}
