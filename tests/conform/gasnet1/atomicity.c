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

static void let_time_pass(void) {
  const struct timespec pause = {0, 20000000};
  nanosleep(&pause, NULL);
}

/* A message comes while `begin` holds handlers off this thread; it is handled after `end`. */
#define EXPECT_HELD_OFF(begin, end)                             \
  do {                                                          \
    main_thread = pthread_self();                               \
    arrived = arrived_here = 0;                                 \
    barrier();                                                  \
    begin;                                                      \
    gasnet_node_t to_ = (gasnet_mynode() + 1) % gasnet_nodes(); \
    const int before_ = arrived_here;                           \
    let_time_pass();                                            \
    EXPECT_EQ(arrived_here, before_);                           \
    end;                                                        \
    gasnet_AMRequestShort0(to_, on_arrival_index);              \
    GASNET_BLOCKUNTIL(arrived == 1);                            \
    barrier();                                                  \
  } while (0)

CASE(sections_hold_handlers_off, "C1-110 C1-176 C1-177 C1-178 C1-184") {
  EXPECT_HELD_OFF(gasnet_hold_interrupts(), gasnet_resume_interrupts());
  for (int i = 0; i < 10000; ++i) {
    gasnet_hold_interrupts();
    gasnet_resume_interrupts();
  }
}

static gasnet_hsl_t fixed = GASNET_HSL_INITIALIZER, outer, inner;

CASE(held_locks_hold_handlers_off, "C1-189 C1-194 C1-198 C1-205") {
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
CASE(sections_and_locks_nest, "C1-199 C1-200") {
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

CASE(locks_protect_what_handlers_share, "C1-191 C1-196 C1-197") {
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
