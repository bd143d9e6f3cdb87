/* PAR: threads that pthread_cancel() ends wherever it finds them: while they send, put, get, wait and poll, and in
 * handlers. No call of the library is cancelled half way, so the others go on, and the job ends. */
#include <gasnet_coll.h>
#include <gasnetex.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "../job_test.h"

enum { kSegmentBytes = 1 << 20, kPutAt = 4096, kTurns = 40, kBytes = 3000, kMedium = 200, kAnswer, kShort, kWays = 5 };

static gex_TM_t team;
static unsigned char *there; /* the next rank's segment */
static gex_Rank_t next;
static volatile unsigned cancelled[kWays]; /* by their way */
static volatile unsigned begun, ended;     /* handlers of requests */

/* As a client's may: it is a cancellation point. */
static void on_medium(gex_Token_t token, void *payload, size_t bytes) {
  const struct timespec moment = {0, 20000};
  __sync_fetch_and_add(&begun, 1);
  nanosleep(&moment, NULL);
  gex_AM_ReplyMedium0(token, kAnswer, payload, bytes, GEX_EVENT_NOW, 0);
  __sync_fetch_and_add(&ended, 1);
}
static void on_answer(gex_Token_t token, void *payload, size_t bytes) {
  (void)token;
  (void)payload;
  (void)bytes;
  pthread_testcancel();
}
static void on_short(gex_Token_t token) { (void)token; }

/* A handler that never ends keeps it false. In `thread` some run while this looks. */
static int all_ended(void) {
  const unsigned so_many = __atomic_load_n(&ended, __ATOMIC_ACQUIRE);
  return __atomic_load_n(&begun, __ATOMIC_ACQUIRE) == so_many;
}

static void send(void) {
  static const char bytes[kBytes];
  gex_AM_RequestMedium0(team, next, kMedium, bytes, sizeof bytes, GEX_EVENT_NOW, 0);
}
static void put(void) {
  const char bytes[8] = "bytes";
  gex_RMA_PutBlocking(team, next, there + kPutAt, bytes, sizeof bytes, 0);
  gex_AM_RequestShort0(team, next, kShort, 0);
}
static void get(void) {
  static char bytes[kBytes];
  gex_RMA_GetBlocking(team, bytes, next, there, sizeof bytes, 0);
}
/* Sleeps: nothing comes for a while. */
static void wait_long(void) {
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  GASNET_BLOCKUNTIL((clock_gettime(CLOCK_MONOTONIC, &now), now.tv_nsec - begin.tv_nsec + 1000000000 * (now.tv_sec - begin.tv_sec) > 2000000));
}
static void poll(void) { gasnet_AMPoll(); }
static void (*const ways[kWays])(void) = {send, put, get, wait_long, poll};

static void count(void *way) { __sync_fetch_and_add((volatile unsigned *)way, 1); }
static void *go_on(void *which) {
  const long way = (long)which;
  pthread_cleanup_push(count, (void *)&cancelled[way]);
  for (;;) {
    ways[way]();
    pthread_testcancel();
  }
  pthread_cleanup_pop(0);
  return NULL;
}

static void cancel_some(void) {
  pthread_t threads[kWays];
  for (long way = 0; way < kWays; ++way) EXPECT_EQ(pthread_create(&threads[way], NULL, go_on, (void *)way), 0);
  for (int i = 0; i < 20; ++i) {
    gasnet_AMPoll();
    usleep(50);
  }
  for (int way = 0; way < kWays; ++way) EXPECT_EQ(pthread_cancel(threads[way]), 0);
  for (int way = 0; way < kWays; ++way) {
    void *result = NULL;
    while (pthread_tryjoin_np(threads[way], &result) != 0) {
      gasnet_AMPoll();
      sched_yield();
    }
    EXPECT(result == PTHREAD_CANCELED);
  }
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_Segment_t segment;
  if (gex_Client_Init(&client, &endpoint, &team, "CANCELS", &argc, &argv, 0) != GASNET_OK) return 1;
  me = gex_System_QueryJobRank();
  nodes = gex_System_QueryJobSize();
  next = (me + 1) % nodes;
  gex_AM_Entry_t entries[] = {
      {kMedium, (gex_AM_Fn_t)on_medium, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 0, NULL, "on_medium"},
      {kAnswer, (gex_AM_Fn_t)on_answer, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0, NULL, "on_answer"},
      {kShort, (gex_AM_Fn_t)on_short, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "on_short"},
  };
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, entries, 3), GASNET_OK);
  if (gex_Segment_Attach(&segment, team, kSegmentBytes) != GASNET_OK) gasnet_exit(1);
  void *base = NULL;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, next, &base, NULL, NULL, 0));
  there = base;
  gasnet_set_waitmode(GASNET_WAIT_BLOCK);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  for (int turn = 0; turn < kTurns; ++turn) cancel_some();
  for (int way = 0; way < kWays; ++way) EXPECT_EQ(cancelled[way], (unsigned)kTurns);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  GASNET_BLOCKUNTIL(all_ended());
  if (me == 0) printf("cancels: ok with %u ranks\n", (unsigned)nodes);
  fflush(stdout);
  gasnet_exit(0);
  return 0;
}
