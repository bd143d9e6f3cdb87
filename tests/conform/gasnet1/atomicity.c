/* No-Interrupt Sections and handler-safe locks, on one thread (2.4). Between threads: threads.c. */
#include <pthread.h>
#include <time.h>

#include "gasnet1.h"

/* The latter on the main thread: others may run handlers (C1-177). */
static _Atomic int arrived, arrived_here;
static pthread_t main_thread;
static void on_arrival(gasnet_token_t token) {
  (void)token;
  EXPECT_FIRST(arrived);
  if (pthread_equal(pthread_self(), main_thread)) ++arrived_here;
  ++arrived;
}
HANDLER(on_arrival);

/* By its end all that was sent has come: a message through a switch takes a while. */
static void let_time_pass(void) {
  const struct timespec pause = {0, 5000000};
  nanosleep(&pause, NULL);
}

static unsigned turns;
static const char *mark_of(const char *what) {
  static char name[40];
  snprintf(name, sizeof name, "%s_%u", what, turns);
  return name;
}
static int handlers_interrupt(void) {
  const char *const dispatch = getenv("GASNET_DISPATCH");
  return dispatch && (!strcmp(dispatch, "interrupt") || !strcmp(dispatch, "watchdog"));
}

/* Each rank in turn keeps handlers off its thread with `begin`; meanwhile the next rank sends it a
 * message, which is handled after `end`: by a poll, or, where handlers interrupt, with no further
 * call (C1-205). */
#define EXPECT_HELD_OFF(begin, end)                                            \
  for (gasnet_node_t holder_ = 0; holder_ < nodes; ++holder_, ++turns) {       \
    main_thread = pthread_self();                                              \
    arrived = arrived_here = 0;                                                \
    barrier();                                                                 \
    if (me == holder_) {                                                       \
      begin;                                                                   \
      leave_mark(mark_of("holds"));                                            \
      while (!is_marked(mark_of("has_sent"))) let_time_pass();                 \
      let_time_pass();                                                         \
      EXPECT_EQ(arrived_here, 0);                                              \
      end;                                                                     \
      while (handlers_interrupt() && arrived == 0) let_time_pass();            \
      GASNET_BLOCKUNTIL(arrived == 1);                                         \
    } else if (me == (holder_ + 1) % nodes) {                                  \
      while (!is_marked(mark_of("holds"))) gasnet_AMPoll();                    \
      EXPECT_EQ(gasnet_AMRequestShort0(holder_, on_arrival_index), GASNET_OK); \
      for (int polls_ = 0; polls_ < 100; ++polls_) gasnet_AMPoll();            \
      leave_mark(mark_of("has_sent"));                                         \
    }                                                                          \
    barrier();                                                                 \
  }

CASE(sections_hold_handlers_off, "C1-110 C1-176 C1-177 C1-178 C1-184 PA-025 PA-028") {
  if (nodes < 2) NOT_HERE("one rank has nobody who sends meanwhile");
  EXPECT_HELD_OFF(gasnet_hold_interrupts(), gasnet_resume_interrupts());
  for (int i = 0; i < 10000; ++i) {
    gasnet_hold_interrupts();
    gasnet_resume_interrupts();
  }
}

static gasnet_hsl_t fixed = GASNET_HSL_INITIALIZER, outer, inner;

CASE(held_locks_hold_handlers_off, "C1-189 C1-194 C1-198 C1-205") {
  if (nodes < 2) NOT_HERE("one rank has nobody who sends meanwhile");
  gasnet_hsl_init(&outer);
  gasnet_hsl_init(&inner);
  EXPECT_HELD_OFF(gasnet_hsl_lock(&fixed), gasnet_hsl_unlock(&fixed));
  EXPECT_HELD_OFF((void)gasnet_hsl_trylock(&outer), gasnet_hsl_unlock(&outer));
  EXPECT_HELD_OFF((gasnet_hsl_lock(&outer), gasnet_hsl_lock(&inner)),
                  (gasnet_hsl_unlock(&inner), gasnet_hsl_unlock(&outer)));
  gasnet_hsl_destroy(&outer);
  gasnet_hsl_destroy(&inner);
}

/* hold; lock; unlock; resume: off until resume. lock; hold; resume; unlock: the inner two are
 * ignored. */
CASE(sections_and_locks_nest, "C1-199 C1-200 PA-045") {
  if (nodes < 2) NOT_HERE("one rank has nobody who sends meanwhile");
  EXPECT_HELD_OFF((gasnet_hold_interrupts(), gasnet_hsl_lock(&fixed), gasnet_hsl_unlock(&fixed)),
                  gasnet_resume_interrupts());
  EXPECT_HELD_OFF((gasnet_hsl_lock(&fixed), gasnet_hold_interrupts(), gasnet_resume_interrupts()),
                  gasnet_hsl_unlock(&fixed));
}

CASE(locks_are_made_used_and_destroyed, "C1-189 C1-192 C1-194") {
  static gasnet_hsl_t many[100];
  gasnet_hsl_t by_initializer = GASNET_HSL_INITIALIZER;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 100; ++i) gasnet_hsl_init(&many[i]);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(gasnet_hsl_trylock(&many[i]), GASNET_OK);
    for (int i = 99; i >= 0; --i) gasnet_hsl_unlock(&many[i]);
    for (int i = 0; i < 100; ++i) {
      gasnet_hsl_lock(&many[i]);
      gasnet_hsl_unlock(&many[i]);
      gasnet_hsl_destroy(&many[i]);
    }
  }
  gasnet_hsl_lock(&by_initializer);
  gasnet_hsl_unlock(&by_initializer);
  gasnet_hsl_destroy(&by_initializer);
}

/* Data that handlers change too, under a lock (C1-196). */
static int shared_sum;
static void on_add(gasnet_token_t token, int value) {
  (void)token;
  gasnet_hsl_lock(&fixed);
  shared_sum += value;
  gasnet_hsl_unlock(&fixed);
  ++arrived;
}
HANDLER(on_add);

CASE(locks_protect_what_handlers_share, "C1-191 C1-196 C1-197 PA-044") {
  enum { kCount = 500 };
  arrived = 0;
  gasnet_hsl_lock(&fixed);
  shared_sum = 0;
  gasnet_hsl_unlock(&fixed);
  barrier();
  for (int i = 0; i < kCount; ++i) {
    gasnet_AMRequestShort1((me + 1) % nodes, on_add_index, 2);
    gasnet_hsl_lock(&fixed);
    shared_sum += 1;
    gasnet_hsl_unlock(&fixed);
  }
  GASNET_BLOCKUNTIL(arrived == kCount);
  EXPECT_EQ(shared_sum, 3 * kCount);
}
