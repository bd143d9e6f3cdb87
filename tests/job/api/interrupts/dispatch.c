/* Handlers that run while client threads do not call GASNet: for any GASNET_DISPATCH but poll. Rank 0 sends; rank 1
 * computes, holds, locks, allocates.
 *
 * dispatch [REQUESTS] */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "../../no_malloc_in_signals/hook.h"
#include "../job_test.h"
#include "pinwire.h"

/* Handlers run in signals, and in threads of the library. */
static void set(int *word, int value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }
static void add_one(int *counter) { __atomic_fetch_add(counter, 1, __ATOMIC_RELEASE); }

static int handled, answered;     /* requests here, own requests */
static int left_half, right_half; /* equal outside the handler */
static int in_section;            /* the main thread is */
static int handled_in_section;
static pthread_t main_thread;
static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
static int lock_is_held, handled_under_lock; /* under the lock */
static int deaf_is_ready, handled_by_deaf;
static pthread_t deaf_thread; /* once it is ready */

static void on_request(gasnet_token_t token, int uses_lock) {
  if (pthread_equal(pthread_self(), main_thread) && read_now(&in_section)) add_one(&handled_in_section);
  if (read_now(&deaf_is_ready) && pthread_equal(pthread_self(), deaf_thread)) add_one(&handled_by_deaf);
  if (uses_lock) {
    gasnet_hsl_lock(&lock);
    if (lock_is_held) handled_under_lock = 1;
  }
  add_one(&left_half);
  client_allocates_here(1);
  void *volatile memory = uses_lock ? NULL : malloc(100); /* safe: main allocates in sections only (C1-180) */
  add_one(&right_half);
  free(memory);
  client_allocates_here(-1);
  if (uses_lock) gasnet_hsl_unlock(&lock);
  add_one(&handled);
  gasnet_AMReplyShort0(token, 202);
}
static void on_answer(gasnet_token_t token) {
  (void)token;
  add_one(&answered);
}

static double now_s(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}
/* Waits without a GASNet call. */
static void compute_until(int *counter, int wanted, const char *what) {
  const double until = now_s() + 100;
  while (read_now(counter) < wanted) {
    if (now_s() > until) fail_at(__FILE__, __LINE__, "%s: %d of %d after 100 s", what, read_now(counter), wanted);
  }
}
static void compute_ms(int ms) {
  const double until = now_s() + 1e-3 * ms;
  while (now_s() < until) {
  }
}

static int sent; /* requests, by this rank */
static void send_one(gasnet_node_t to, int uses_lock) {
  gasnet_AMRequestShort1(to, 201, uses_lock);
  ++sent;
}
/* Every handler of this stage has run, here and there. */
static void end_stage(void) {
  GASNET_BLOCKUNTIL(read_now(&answered) == sent);
  barrier();
}

/* Rank 0 sends a while after rank 1 has said that it is ready, by a word of its segment: any time then, so
 * before rank 1 begins to keep handlers off, in the midst of it, or when it is over. */
static int *ready_word(gasnet_node_t node) { return (int *)segments[node].addr; }
static void await_ready(int turn) {
  int word = 0;
  while (word != turn) gasnet_get(&word, 1, ready_word(1), sizeof word);
}
static void send_when_ready(int turn, int uses_lock) {
  await_ready(turn);
  const double until = now_s() + 1e-4 * (turn % 10);
  while (now_s() < until) {
  }
  send_one(1, uses_lock);
}

static void computing_thread_is_served(void) { /* PA-050, PA-052 */
  if (me == 1) compute_until(&handled, 1, "a request to a thread that computes");
  if (me == 0) send_one(1, 0);
  end_stage();
}

static void sections_keep_handlers_off(void) { /* C1-176, C1-177, C1-199, PA-026 */
  enum { kTurns = 50 };
  const int before = read_now(&handled);
  for (int turn = 1; turn <= kTurns; ++turn) {
    if (me == 0) send_when_ready(turn, 0);
    if (me != 1) continue;
    set(ready_word(1), turn); /* a peer gets it */
    gasnet_hold_interrupts();
    set(&in_section, 1);
    if (turn % 2 == 0) { /* a lock that comes and goes inside ends nothing */
      gasnet_hsl_lock(&lock);
      gasnet_hsl_unlock(&lock);
    }
    compute_ms(1);
    set(&in_section, 0);
    gasnet_resume_interrupts();
    compute_until(&handled, before + turn, "a request that came in a section");
  }
  EXPECT(!read_now(&handled_in_section));
  end_stage();
}

static void locks_keep_handlers_off(void) { /* C1-197, C1-198, C1-205 */
  enum { kTurns = 50 };
  const int before = read_now(&handled);
  for (int turn = 1001; turn <= 1000 + kTurns; ++turn) {
    if (me == 0) send_when_ready(turn, 1);
    if (me != 1) continue;
    set(ready_word(1), turn); /* a peer gets it */
    gasnet_hsl_lock(&lock);
    lock_is_held = 1;
    set(&in_section, 1);
    compute_ms(1);
    lock_is_held = 0;
    set(&in_section, 0);
    gasnet_hsl_unlock(&lock);
    compute_until(&handled, before + turn - 1000, "a request that came under a lock");
  }
  EXPECT(!handled_under_lock && !read_now(&handled_in_section));
  end_stage();
}

/* Rank 1's own work sees handlers come and go, and keeps what is its own. */
static void storm(int requests) { /* C1-180, PA-031 */
  enum { kTurn = 2000 };
  const int handled_before = read_now(&handled);
  barrier();
  if (me == 1) set(ready_word(1), kTurn); /* it has left the barrier, in which it takes requests itself */
  if (me == 0) await_ready(kTurn);
  for (int i = 0; me == 0 && i < requests; ++i) send_one(1, 0);
  unsigned long rounds = 0;
  double sum = 0;
  const double until = now_s() + 100;
  while (me == 1 && read_now(&handled) < handled_before + requests) {
    gasnet_hold_interrupts();
    set(&in_section, 1);
    void *memory = malloc(rounds % 1000 + 1);
    memset(memory, (int)rounds, rounds % 1000 + 1);
    free(memory);
    set(&in_section, 0);
    gasnet_resume_interrupts();
    errno = 1234;
    double term = 1;
    for (int i = 1; i < 50; ++i) term = term / 2 + (double)i;
    sum += term;
    ++rounds;
    EXPECT_EQ(errno, 1234);
    EXPECT(sum == (double)rounds * term);
    EXPECT(now_s() < until);
  }
  EXPECT(!read_now(&handled_in_section));
  EXPECT_EQ(read_now(&left_half), read_now(&right_half));
  end_stage();
}

/* While both send and wait inside GASNet nothing is lost either. */
static void both_ways(int requests) {
  const int handled_before = read_now(&handled);
  barrier();
  for (int i = 0; i < requests; ++i) send_one(1 - me, 1);
  compute_until(&handled, handled_before + requests, "requests of both");
  end_stage();
}

#ifdef GASNET_PAR
/* One thread blocks all signals and computes, so that another's work is interrupted. */
static int deaf_may_end;
static void *be_deaf(void *unused) {
  sigset_t all;
  gasnet_AMPoll(); /* from now on it may be asked; the newest thread is asked first */
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  deaf_thread = pthread_self();
  set(&deaf_is_ready, 1);
  while (!read_now(&deaf_may_end)) {
  }
  return unused;
}
static void threads_that_block_signals_are_passed_over(void) { /* PA-036 */
  enum { kTurns = 20 };
  const int before = read_now(&handled);
  pthread_t thread;
  if (me == 1) {
    EXPECT_EQ(pthread_create(&thread, NULL, be_deaf, NULL), 0);
    compute_until(&deaf_is_ready, 1, "a thread that blocks its signals");
  }
  barrier();
  for (int turn = 1; turn <= kTurns; ++turn) {
    if (me == 1) compute_until(&handled, before + turn, "a request beside a thread that blocks its signals");
    if (me == 0) send_one(1, 0);
    if (me == 0) GASNET_BLOCKUNTIL(read_now(&answered) == sent);
  }
  set(&deaf_may_end, 1);
  if (me == 1) pthread_join(thread, NULL);
  EXPECT(!read_now(&handled_by_deaf));
  end_stage();
}
#endif

/* The thread that took the storm's requests: rank 1 made no call meanwhile. The dispatcher took those whose signal came
 * while rank 1 was in the C library, or lost its core. */
static void counters_tell_who_ran_handlers(int requests) {
  const uint64_t by_clients = statistic("dispatch.found_in_signals") + statistic("dispatch.found_after_sections");
  const uint64_t by_dispatcher = statistic("dispatch.found_beside"), handed_over = statistic("dispatch.handed_over");
  const char *dispatch = gasnet_getenv("GASNET_DISPATCH");
  if (strcmp(dispatch, "interrupt") == 0 || strcmp(dispatch, "watchdog") == 0) {
    EXPECT(me == 0 || by_clients + by_dispatcher + pinwire_network_depth() >= (uint64_t)requests);
    EXPECT(me == 0 || by_clients > 0);
    EXPECT(me == 0 || statistic("dispatch.asks") > 0);
  } else {
    EXPECT_EQ(by_clients + handed_over + statistic("dispatch.signals") + statistic("dispatch.signals_handled"), 0);
  }
  EXPECT(statistic("dispatch.wakes") <= statistic("dispatch.sleeps"));
  barrier();
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{201, (void (*)())on_request}, {202, (void (*)())on_answer}};
  main_thread = pthread_self();
  start_job(&argc, &argv, table, 2, GASNET_PAGESIZE);
  const int requests = argc > 1 ? atoi(argv[1]) : 20000;
  EXPECT_EQ(nodes, 2);
  barrier();
  computing_thread_is_served();
  sections_keep_handlers_off();
  locks_keep_handlers_off();
  storm(requests);
  counters_tell_who_ran_handlers(requests);
#ifdef GASNET_PAR
  threads_that_block_signals_are_passed_over();
#endif
  both_ways(requests);
  end_job("dispatch");
}
