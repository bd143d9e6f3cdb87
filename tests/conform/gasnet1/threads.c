/* Several client threads (1.5, 2.3.5, 2.4.4): at once in PAR, by turns in PARSYNC. */
#include <pthread.h>
#include <sched.h>

#include "gasnet1.h"

#ifdef GASNET_SEQ
#define BY_TURNS() NOT_HERE("SEQ has one client thread")
#else
#define BY_TURNS() (void)0
#endif
#ifdef GASNET_PAR
#define AT_ONCE() (void)0
#else
#define AT_ONCE() NOT_HERE("client threads may not call at once")
#endif

enum { kThreads = 3 };

static void run_threads(int count, void *(*body)(void *)) {
  pthread_t threads[kThreads];
  for (int t = 0; t < count; ++t)
    if (pthread_create(&threads[t], NULL, body, (void *)(intptr_t)t) != 0) abort();
  for (int t = 0; t < count; ++t) pthread_join(threads[t], NULL);
}

static _Atomic int seen[kThreads];
static void on_seen(gasnet_token_t token, int thread) {
  (void)token;
  ++seen[thread];
}
HANDLER(on_seen);
static void on_ask(gasnet_token_t token, int thread) {
  gasnet_AMReplyShort1(token, on_seen_index, thread);
}
HANDLER(on_ask);

static unsigned char *place(gasnet_node_t owner, int thread) {
  return part(owner) + thread * 600000;
}

/* The work of a client thread, alone or beside others. */
static void *communicate(void *argument) {
  const int thread = (int)(intptr_t)argument;
  unsigned char bytes[300], back[300];
  const int before = seen[thread];
  for (int i = 0; i < 50; ++i) {
    const gasnet_node_t to = (me + (gasnet_node_t)i) % nodes;
    fill(bytes, sizeof bytes, (unsigned)i);
    gasnet_AMRequestShort1(to, on_ask_index, thread);
    gasnet_put_nbi(to, place(to, thread), bytes, sizeof bytes);
    gasnet_wait_syncnbi_puts();
    gasnet_wait_syncnb(gasnet_get_nb(back, to, place(to, thread), sizeof back));
    EXPECT(memcmp(bytes, back, sizeof back) == 0);
  }
  GASNET_BLOCKUNTIL(seen[thread] == before + 50);
  return NULL;
}

CASE(threads_by_turns, "C1-009 C1-014") {
  BY_TURNS();
  for (int t = 0; t < kThreads; ++t) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, communicate, (void *)(intptr_t)t) != 0) abort();
    pthread_join(thread, NULL);
    communicate((void *)(intptr_t)t);
  }
}

CASE(threads_at_once, "C1-009 C1-013 C1-277") {
  AT_ONCE();
  run_threads(kThreads, communicate);
}

/* One thread notifies for its node, another waits. */
static void *notify_barrier(void *argument) {
  gasnet_barrier_notify(17, 0);
  return argument;
}
CASE(barrier_of_two_threads, "C1-009 C1-263") {
  BY_TURNS();
  for (int i = 0; i < 5; ++i) {
    run_threads(1, notify_barrier);
    EXPECT_EQ(gasnet_barrier_wait(17, 0), GASNET_OK);
  }
}

/* Each thread has its own implicit set and its own 65,535. */
static void *many_in_flight(void *argument) {
  enum { kMany = 65535 };
  const gasnet_node_t to = (me + 1) % nodes;
  const int thread = (int)(intptr_t)argument;
  uint32_t *const at = (uint32_t *)place(to, thread);
  uint32_t *const out = malloc(2 * sizeof *out * kMany), *const in = out + kMany;
  gasnet_handle_t *const handles = malloc(sizeof *handles * kMany);
  if (!out || !handles) abort();
  for (uint32_t i = 0; i < kMany; ++i) {
    out[i] = i * 2246822519u + (uint32_t)thread;
    handles[i] = gasnet_put_nb_bulk(to, at + i, &out[i], 4);
  }
  gasnet_wait_syncnb_all(handles, kMany);
  for (uint32_t i = 0; i < kMany; ++i) gasnet_get_nbi(&in[i], to, at + i, 4);
  gasnet_wait_syncnbi_gets();
  EXPECT(memcmp(in, out, sizeof *out * kMany) == 0);
  free(out);
  free(handles);
  return NULL;
}
CASE(each_thread_has_as_many_as_promised, "C1-224 C1-244") {
  AT_ONCE();
  run_threads(2, many_in_flight);
}

static _Atomic int has_begun, may_sync;
static void *begin_and_sync_later(void *argument) {
  static uint32_t source = 5;
  gasnet_put_nbi(1, part(1), &source, 4);
  gasnet_get_nbi(&source, 1, part(1) + 64, 4);
  ++has_begun;
  while (!may_sync) sched_yield();
  gasnet_wait_syncnbi_all();
  return argument;
}

/* Work that another thread began is no concern of this one's. */
CASE(implicit_sets_are_of_threads, "C1-244") {
  BY_TURNS();
  SOMETHING_STAYS_UNDER_WAY();
  has_begun = may_sync = 0;
  if (freeze_rank_1()) {
    pthread_t other;
    if (pthread_create(&other, NULL, begin_and_sync_later, NULL) != 0) abort();
    while (!has_begun) sched_yield();
    gasnet_wait_syncnbi_all();
    EXPECT_EQ(gasnet_try_syncnbi_all(), GASNET_OK);
    thaw_rank_1();
    ++may_sync;
    pthread_join(other, NULL);
  }
}

/* ---- BLOCKUNTIL ------------------------------------------------------------------------------ */

static _Atomic int released;
static void on_release(gasnet_token_t token) {
  (void)token;
  ++released;
}
HANDLER(on_release);

static void *block_until_released(void *argument) {
  (void)argument;
  GASNET_BLOCKUNTIL(released == 1);
  ++seen[1];
  return NULL;
}
static void *poll_until_released(void *argument) {
  (void)argument;
  while (released == 0) gasnet_AMPoll();
  ++seen[2];
  return NULL;
}
static void *block_or_poll(void *argument) {
  return (intptr_t)argument == 0 ? poll_until_released(argument) : block_until_released(argument);
}

/* Whichever thread runs the handler, those that wait go on; also when all of them block. */
CASE(blocked_threads_are_woken, "C1-163 C1-164") {
  AT_ONCE();
  for (int round = 0; round < 6; ++round) {
    pthread_t threads[kThreads];
    seen[1] = seen[2] = 0;
    released = 0;
    EXPECT_EQ(gasnet_set_waitmode(round % 3 == 0   ? GASNET_WAIT_SPIN
                                  : round % 3 == 1 ? GASNET_WAIT_BLOCK
                                                   : GASNET_WAIT_SPINBLOCK),
              GASNET_OK);
    barrier();
    for (intptr_t t = 0; t < kThreads; ++t)
      if (pthread_create(&threads[t], NULL, round < 3 ? block_or_poll : block_until_released,
                         (void *)t) != 0)
        abort();
    gasnet_AMRequestShort0((me + 1) % nodes, on_release_index);
    for (int t = 0; t < kThreads; ++t) pthread_join(threads[t], NULL);
    EXPECT_EQ(seen[1] + seen[2], kThreads);
    barrier();
  }
  EXPECT_EQ(gasnet_set_waitmode(GASNET_WAIT_SPIN), GASNET_OK);
}

/* ---- handler-safe locks ---------------------------------------------------------------------- */

static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
static long unprotected_sum; /* an addition lost shows that two were inside */
enum { kAdditions = 20000 };

static void *add_under_lock(void *argument) {
  for (int i = 0; i < kAdditions; ++i) {
    if (i % 3)
      gasnet_hsl_lock(&lock);
    else
      while (gasnet_hsl_trylock(&lock) != GASNET_OK) {
      }
    const long was = unprotected_sum;
    if (i % 64 == 0) sched_yield();
    unprotected_sum = was + 1;
    gasnet_hsl_unlock(&lock);
  }
  return argument;
}

CASE(locks_exclude_threads, "C1-017 C1-191 C1-192 C1-194") {
  AT_ONCE();
  unprotected_sum = 0;
  run_threads(kThreads, add_under_lock);
  EXPECT_EQ(unprotected_sum, kThreads * kAdditions);
}

static void on_add(gasnet_token_t token, int thread) {
  gasnet_hsl_lock(&lock);
  const long was = unprotected_sum;
  unprotected_sum = was + 1;
  gasnet_hsl_unlock(&lock);
  gasnet_AMReplyShort1(token, on_seen_index, thread);
}
HANDLER(on_add);
static void *add_and_ask(void *argument) {
  const int thread = (int)(intptr_t)argument;
  for (int i = 0; i < 200; ++i) {
    gasnet_AMRequestShort1((me + 1) % nodes, on_add_index, thread);
    gasnet_hsl_lock(&lock);
    const long was = unprotected_sum;
    unprotected_sum = was + 1;
    gasnet_hsl_unlock(&lock);
  }
  GASNET_BLOCKUNTIL(seen[thread] == 200);
  return NULL;
}

CASE(locks_exclude_handlers, "C1-173 C1-191 C1-196 C1-197 PA-046") {
  AT_ONCE();
  for (int t = 0; t < kThreads; ++t) seen[t] = 0;
  gasnet_hsl_lock(&lock);
  unprotected_sum = 0;
  gasnet_hsl_unlock(&lock);
  barrier();
  run_threads(kThreads, add_and_ask);
  barrier();
  gasnet_hsl_lock(&lock);
  EXPECT_EQ(unprotected_sum, 2 * kThreads * 200);
  gasnet_hsl_unlock(&lock);
}

static _Atomic int is_held, may_release;
static void *hold_lock(void *argument) {
  gasnet_hsl_lock(&lock);
  ++is_held;
  while (!may_release) sched_yield();
  gasnet_hsl_unlock(&lock);
  return argument;
}

/* trylock of what another thread holds: NOT_READY at once, and nothing changed. */
CASE(trylock_does_not_wait, "C1-192") {
  pthread_t holder;
  AT_ONCE();
  is_held = may_release = 0;
  if (pthread_create(&holder, NULL, hold_lock, NULL) != 0) abort();
  while (!is_held) sched_yield();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(gasnet_hsl_trylock(&lock), GASNET_ERR_NOT_READY);
  ++may_release;
  pthread_join(holder, NULL);
  EXPECT_EQ(gasnet_hsl_trylock(&lock), GASNET_OK);
  gasnet_hsl_unlock(&lock);
}
