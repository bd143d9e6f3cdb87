/* GASNet's tools: atomic integers at which several threads, or a thread and its signal handler, are
 * at once. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "../meet.h"

enum { kThreads = 2, kRounds = 6000, kMeetEach = 1000 };

static void run_threads(void *(*body)(void *)) {
  pthread_t threads[kThreads];
  begin_meetings();
  for (int t = 0; t < kThreads; ++t)
    if (pthread_create(&threads[t], NULL, body, NULL) != 0) abort();
  for (int t = 0; t < kThreads; ++t) pthread_join(threads[t], NULL);
}

/* Threads count by each operation, as many up by one as by another; and count down, to zero once.
 */
#define ATOMIC_TYPE(NAME, VALUE)                                             \
  static NAME##_t NAME##_sum = NAME##_init(0), NAME##_left = NAME##_init(0); \
  static _Atomic int NAME##_zeros;                                           \
  static void *NAME##_count(void *unused) {                                  \
    for (int i = 0; i < kRounds; ++i) {                                      \
      meet(i, kMeetEach);                                                    \
      VALUE now = NAME##_read(&NAME##_sum, 0);                               \
      while (!NAME##_compare_and_swap(&NAME##_sum, now, now + 1, 0))         \
        now = NAME##_read(&NAME##_sum, 0);                                   \
      NAME##_increment(&NAME##_sum, 0);                                      \
      NAME##_add(&NAME##_sum, 5, 0);                                         \
      NAME##_subtract(&NAME##_sum, 3, 0);                                    \
      NAME##_decrement(&NAME##_sum, 0);                                      \
      NAME##_zeros += NAME##_decrement_and_test(&NAME##_left, 0) != 0;       \
    }                                                                        \
    return unused;                                                           \
  }                                                                          \
  static void NAME##_check(void) {                                           \
    NAME##_set(&NAME##_sum, 0, 0);                                           \
    NAME##_set(&NAME##_left, kThreads *kRounds, 0);                          \
    NAME##_zeros = 0;                                                        \
    run_threads(NAME##_count);                                               \
    EXPECT(NAME##_read(&NAME##_sum, 0) == 3 * kThreads * kRounds);           \
    EXPECT(NAME##_read(&NAME##_left, 0) == 0);                               \
    EXPECT_EQ(NAME##_zeros, 1);                                              \
  }                                                                          \
  typedef int NAME##_is_checked
ATOMIC_TYPE(gasnett_atomic, gasnett_atomic_val_t);
ATOMIC_TYPE(gasnett_atomic32, uint32_t);
ATOMIC_TYPE(gasnett_atomic64, uint64_t);
ATOMIC_TYPE(gasnett_strongatomic, gasnett_atomic_val_t);
ATOMIC_TYPE(gasnett_strongatomic32, uint32_t);
ATOMIC_TYPE(gasnett_strongatomic64, uint64_t);

CASE(atomics_of_threads, "GX-174") {
#ifndef GASNET_PAR
  NOT_HERE("these are atomic between client threads, of which one at a time is there");
#endif
  gasnett_atomic_check();
  gasnett_atomic32_check();
  gasnett_atomic64_check();
}

CASE(strong_atomics_of_threads, "GX-174") {
  gasnett_strongatomic_check();
  gasnett_strongatomic32_check();
  gasnett_strongatomic64_check();
}

/* ---- Each swap takes what another one left --------------------------------------------------- */

static gasnett_strongatomic64_t slot = gasnett_strongatomic64_init(0);
static _Atomic uint64_t taken;
static void *pass_on(void *unused) {
  for (unsigned i = 1; i <= kRounds; ++i) {
    meet((int)i, kMeetEach);
    taken += gasnett_strongatomic64_swap(&slot, i, GASNETT_ATOMIC_NONE);
  }
  return unused;
}
CASE(swaps_lose_nothing, "GX-174") {
  taken = 0;
  gasnett_strongatomic64_set(&slot, 0, 0);
  run_threads(pass_on);
  taken += gasnett_strongatomic64_read(&slot, 0);
  EXPECT_EQ(taken, (uint64_t)kThreads * kRounds * (kRounds + 1) / 2);
}

/* ---- Fences by flags: a lock made of one word ------------------------------------------------ */

static gasnett_strongatomic_t word_lock = gasnett_strongatomic_init(0);
static int guarded;
static void *lock_and_count(void *unused) {
  for (int i = 0; i < kRounds / 10; ++i) {
    meet(i, kMeetEach);
    while (!gasnett_strongatomic_compare_and_swap(&word_lock, 0, 1, GASNETT_ATOMIC_ACQ_IF_TRUE))
      gasnett_sched_yield();
    /* No data race even for tools that do not see fences; two additions at once would still lose
     * one. */
    __atomic_store_n(&guarded, __atomic_load_n(&guarded, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
    gasnett_strongatomic_set(&word_lock, 0, GASNETT_ATOMIC_REL);
  }
  return unused;
}
CASE(acquire_and_release, "GX-174") {
  guarded = 0;
  run_threads(lock_and_count);
  EXPECT_EQ(guarded, kThreads * kRounds / 10);
}

/* ---- Signals --------------------------------------------------------------------------------- */

enum { kSignals = 100 };
static gasnett_strongatomic32_t by_both = gasnett_strongatomic32_init(0);
static _Atomic int handled;
static pthread_t counting;
static void on_signal(int number) {
  (void)number;
  gasnett_strongatomic32_add(&by_both, 2, 0);
  ++handled;
}
static void *send_signals(void *unused) {
  for (int i = 0; i < kSignals; ++i) {
    pthread_kill(counting, SIGRTMIN + 7);
    while (handled <= i) gasnett_sched_yield(); /* so that none waits for its turn */
  }
  return unused;
}

CASE(strong_atomics_in_signal_handlers, "GX-174") {
  struct sigaction action, before;
  pthread_t thread;
  uint32_t own = 0;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGRTMIN + 7, &action, &before);
  counting = pthread_self();
  handled = 0;
  gasnett_strongatomic32_set(&by_both, 0, 0);
  if (pthread_create(&thread, NULL, send_signals, NULL) != 0) abort();
  for (; handled < kSignals; ++own) {
    gasnett_strongatomic32_increment(&by_both, 0);
    if (own % 16384 == 0) usleep(1); /* tools that hold signals back deliver them here */
  }
  pthread_join(thread, NULL);
  EXPECT_EQ(gasnett_strongatomic32_read(&by_both, 0), own + 2 * kSignals);
  sigaction(SIGRTMIN + 7, &before, NULL);
}
