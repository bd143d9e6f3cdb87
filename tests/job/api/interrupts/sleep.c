/* Waits that sleep: gasnet_set_waitmode BLOCK and SPINBLOCK in every dispatch mode. How little of the
 * processor they use, that other threads' handlers wake them (PAR), and that no wake is lost: a sleep
 * that lasted to its bound, and then found something, is counted. With 2 ranks; with others barriers
 * alone. sleep [ROUNDS] */
#include <gasnetex.h>
#include <pthread.h>
#include <time.h>

#include "../job_test.h"
#include "pinwire.h"

static void add_one(int *counter) { __atomic_fetch_add(counter, 1, __ATOMIC_RELEASE); }

static int pinged, ponged; /* requests here, answers to own ones */
static int of_thread[2];   /* requests for each of the threads of PAR */
static int in_turn;        /* the thread whose turn it is */
static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
static int under_lock;     /* under the lock */

static void on_ping(gasnet_token_t token) {
  add_one(&pinged);
  gasnet_AMReplyShort0(token, 202);
}
static void on_pong(gasnet_token_t token) {
  (void)token;
  add_one(&ponged);
}
static void on_for_thread(gasnet_token_t token, int thread) {
  (void)token;
  gasnet_hsl_lock(&lock);
  ++under_lock;
  gasnet_hsl_unlock(&lock);
  add_one(&of_thread[thread]);
}
static void on_turn(gasnet_token_t token, int thread) {
  (void)token;
  __atomic_store_n(&in_turn, thread, __ATOMIC_RELEASE);
}

static double seconds(clockid_t clock) {
  struct timespec at;
  clock_gettime(clock, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}
static void compute_ms(int ms) {
  const double until = seconds(CLOCK_MONOTONIC) + 1e-3 * ms;
  while (seconds(CLOCK_MONOTONIC) < until) {
  }
}

/* CPU time of this process, from start_watch() on. */
static double watch_cpu, watch_time;
static void start_watch(void) {
  watch_cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
  watch_time = seconds(CLOCK_MONOTONIC);
}
static int dispatcher_spins;
static void expect_slept(const char *what) {
  const double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - watch_cpu;
  const double elapsed = seconds(CLOCK_MONOTONIC) - watch_time;
  if (getenv("SLEEP_VERBOSE") != NULL) printf("rank %u, %s: %.1f ms of %.1f\n", (unsigned)me, what, 1e3 * cpu, 1e3 * elapsed);
  if (dispatcher_spins || elapsed < 0.1) return; /* the other computed before this rank began to wait */
  if (cpu > 0.5 * elapsed) fail_at(__FILE__, __LINE__, "%s: %.0f ms of processor time in %.0f ms", what, 1e3 * cpu, 1e3 * elapsed);
}

enum { kComputeMs = 300 };

/* C1-161, C1-284: rank 0 waits for a request of rank 1, which computes. */
static void wait_for_request(void) {
  const int before = read_now(&pinged), answered = read_now(&ponged);
  barrier();
  if (me == 1) {
    compute_ms(kComputeMs);
    gasnet_AMRequestShort0(0, 201);
    GASNET_BLOCKUNTIL(read_now(&ponged) > answered);
  } else {
    start_watch();
    GASNET_BLOCKUNTIL(read_now(&pinged) > before);
    expect_slept("a wait for a request");
    EXPECT(statistic("waits.sleeps") + statistic("waits.naps") != 0);
  }
  barrier();
}
/* A message of rank 0 is not answered, and over a network not acknowledged, until rank 1 polls. */
static void wait_for_reply(void) {
  const int answered = read_now(&ponged);
  barrier();
  if (me == 0) {
    start_watch();
    gasnet_AMRequestShort0(1, 201);
    GASNET_BLOCKUNTIL(read_now(&ponged) > answered);
    expect_slept("a wait for a reply");
  } else {
    compute_ms(kComputeMs);
  }
  barrier();
}
static void wait_for_barrier(void) { /* C1-266 */
  barrier();
  if (me == 1) compute_ms(kComputeMs);
  start_watch();
  barrier();
  if (me == 0) expect_slept("a barrier");
}

/* GASNet-EX's, whose ends nobody announces either (extended/barrier/team_barrier.h). */
static gex_TM_t team;
static void wait_for_team_barrier(int is_blocking) {
  barrier();
  if (me == 1) compute_ms(kComputeMs);
  start_watch();
  if (is_blocking) {
    gex_Coll_BarrierBlocking(team, 0);
  } else {
    gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  }
  if (me == 0) expect_slept(is_blocking ? "a barrier of a team" : "the event of a barrier of a team");
}
static void team_barriers(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    const gex_Event_t first = gex_Coll_BarrierNB(team, 0), second = gex_Coll_BarrierNB(team, 0);
    if (i % 2 == 0) gex_Coll_BarrierBlocking(team, 0);
    gex_Event_Wait(second);
    gex_Event_Wait(first);
  }
}

static void transfers(int rounds) {
  char *const there = segments[1 - me].addr;
  static unsigned char out[8192], in[8192];
  barrier();
  for (int i = 0; i < rounds; ++i) {
    const size_t bytes = i % 2 == 0 ? 8 : sizeof out;
    fill(out, bytes, (unsigned)i);
    gasnet_put(1 - me, there, out, bytes);
    gasnet_get(in, 1 - me, there, bytes);
    EXPECT(holds(in, bytes, (unsigned)i));
    gasnet_handle_t handle = gasnet_put_nb_bulk(1 - me, there, out, bytes);
    gasnet_get_nbi_bulk(in, 1 - me, there + 16384, bytes);
    gasnet_wait_syncnb(handle);
    gasnet_wait_syncnbi_all();
  }
  barrier();
}

/* Each rank waits for the other's message of each round. */
static void ping_pong(int rounds) {
  const int before = read_now(&pinged);
  const int answered = read_now(&ponged);
  barrier();
  for (int i = 1; i <= rounds; ++i) {
    if (me == 1) GASNET_BLOCKUNTIL(read_now(&pinged) == before + i);
    gasnet_AMRequestShort0(1 - me, 201);
    if (me == 0) GASNET_BLOCKUNTIL(read_now(&pinged) == before + i);
  }
  GASNET_BLOCKUNTIL(read_now(&ponged) == answered + rounds);
  barrier();
}
static void barriers(int rounds) {
  for (int i = 0; i < rounds; ++i) barrier();
}
/* More than the network takes at once: senders wait for room. */
static void flood(int requests) {
  const int before = read_now(&ponged);
  barrier();
  if (me == 1) compute_ms(20);
  for (int i = 0; i < requests; ++i) gasnet_AMRequestShort0(1 - me, 201);
  GASNET_BLOCKUNTIL(read_now(&ponged) == before + requests);
  barrier();
}

#ifdef GASNET_PAR
static int rounds_of_threads;
static int stop;

/* Waits for what handlers that any thread runs count for it. */
static void *wait_as_thread(void *argument) {
  const int self = *(int *)argument;
  for (int i = 1; i <= rounds_of_threads; ++i) {
    gasnet_AMRequestShort1(1 - me, 203, self);
    GASNET_BLOCKUNTIL(read_now(&of_thread[self]) >= i);
  }
  return NULL;
}
static void *poll_now_and_then(void *unused) {
  (void)unused;
  while (!read_now(&stop)) {
    gasnet_AMPoll();
    sched_yield();
  }
  return NULL;
}
static void *sleep_long(void *unused) {
  (void)unused;
  GASNET_BLOCKUNTIL(read_now(&stop));
  return NULL;
}
static void start(pthread_t *thread, void *(*run)(void *), void *argument) {
  EXPECT_EQ(pthread_create(thread, NULL, run, argument), 0);
}

/* C1-162: two threads wait, beside one that polls, or one that always sleeps. Their messages come on
 * lanes of all three. */
static void threads_wake_each_other(int rounds, void *(*third)(void *)) {
  static int number[2] = {0, 1};
  pthread_t waiting[2], other;
  rounds_of_threads = rounds;
  __atomic_store_n(&of_thread[0], 0, __ATOMIC_RELEASE);
  __atomic_store_n(&of_thread[1], 0, __ATOMIC_RELEASE);
  __atomic_store_n(&stop, 0, __ATOMIC_RELEASE);
  barrier();
  start(&other, third, NULL);
  for (int i = 0; i < 2; ++i) start(&waiting[i], wait_as_thread, &number[i]);
  for (int i = 0; i < 2; ++i) pthread_join(waiting[i], NULL);
  barrier();
  EXPECT_EQ(read_now(&of_thread[0]), rounds);
  EXPECT_EQ(read_now(&of_thread[1]), rounds);
  gasnet_AMRequestShort1(me, 203, 0); /* of this node's own: who sleeps must see `stop` */
  __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
  gasnet_AMRequestShort1(me, 203, 0);
  pthread_join(other, NULL);
  barrier();
}

static int turns; /* by the thread whose turn it is */

/* By a handler that this thread runs of a message to its own node. */
static void *take_turns(void *argument) {
  const int self = *(int *)argument;
  for (int i = 0; i < rounds_of_threads; ++i) {
    GASNET_BLOCKUNTIL(read_now(&in_turn) == self);
    ++turns;
    gasnet_AMRequestShort1(me, 204, 1 - self);
  }
  return NULL;
}
static void handlers_of_own_node_wake(int rounds) {
  static int number[2] = {0, 1};
  pthread_t threads[2];
  rounds_of_threads = rounds;
  const int before = turns;
  for (int i = 0; i < 2; ++i) start(&threads[i], take_turns, &number[i]);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  EXPECT_EQ(turns, before + 2 * rounds);
  barrier();
}
#endif

static void everything(int mode, int rounds) {
  EXPECT_EQ(gasnet_set_waitmode(mode), GASNET_OK);
  wait_for_request();
  wait_for_reply();
  wait_for_barrier();
  wait_for_team_barrier(0);
  wait_for_team_barrier(1);
  ping_pong(rounds);
  barriers(rounds / 10);
  team_barriers(rounds / 10);
  transfers(rounds / 20);
  flood(rounds / 4);
#ifdef GASNET_PAR
  threads_wake_each_other(rounds / 10, poll_now_and_then);
  threads_wake_each_other(rounds / 10, sleep_long);
  handlers_of_own_node_wake(rounds / 10);
#endif
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{201, (void (*)())on_ping},
                                   {202, (void (*)())on_pong},
                                   {203, (void (*)())on_for_thread},
                                   {204, (void (*)())on_turn}};
  start_job(&argc, &argv, table, 4, 8 * GASNET_PAGESIZE);
  gasnet_QueryGexObjects(NULL, NULL, &team, NULL);
  const int rounds = argc > 1 ? atoi(argv[1]) : 10000;
  const char *dispatch = getenv("GASNET_DISPATCH");
  dispatcher_spins = dispatch != NULL && strcmp(dispatch, "nicproc") == 0;
  EXPECT_EQ(statistic("waits.sleeps"), 0); /* SPIN is what a job begins with */
  if (nodes != 2) {
    for (int turn = 0; turn < 3; ++turn) {
      gasnet_set_waitmode((int)(me + (unsigned)turn) % 3); /* ranks need not agree */
      barriers(rounds / 3);
      team_barriers(rounds / 10);
    }
    EXPECT_EQ(statistic("waits.overslept"), 0);
    end_job("sleep");
  }
  everything(GASNET_WAIT_BLOCK, rounds);
  everything(GASNET_WAIT_SPINBLOCK, rounds);
  EXPECT_EQ(statistic("waits.overslept"), 0);
  if (getenv("SLEEP_VERBOSE") != NULL) {
    printf("rank %u: %llu sleeps, %llu naps, %llu rings\n", (unsigned)me, (unsigned long long)statistic("waits.sleeps"),
           (unsigned long long)statistic("waits.naps"), (unsigned long long)statistic("waits.rings"));
  }
  end_job("sleep");
}
