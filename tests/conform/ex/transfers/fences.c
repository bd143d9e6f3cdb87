/* GASNet's tools: fences between the threads of a process. */
#include <pthread.h>

#include "../meet.h"

CASE(declarations, "GX-173") {
  gasnett_local_wmb();
  gasnett_local_rmb();
  gasnett_local_mb();
  gasnett_weak_wmb();
  gasnett_weak_rmb();
  gasnett_weak_mb();
  gasnett_compiler_fence();
  gasnett_spinloop_hint();
  if (nodes > 0)
    gasnett_local_mb();
  else
    gasnett_compiler_fence();
}

/* Local fences are fences in every mode, weak ones where there are client threads. */
enum { kRounds = 10000, kMeetEach = 500 };
static int first_flag[kRounds], second_flag[kRounds], first_saw[kRounds], second_saw[kRounds];
static int use_weak;

static void set(int *word, int value) { __atomic_store_n(word, value, __ATOMIC_RELAXED); }
static int get(const int *word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }
static void full_fence(void) {
  if (use_weak)
    gasnett_weak_mb();
  else
    gasnett_local_mb();
}

/* One of two threads that each set their own flag and then look at the other's sees it. */
static void *second_of_two(void *unused) {
  for (int i = 0; i < kRounds; ++i) {
    meet(i, kMeetEach);
    set(&second_flag[i], 1);
    full_fence();
    set(&second_saw[i], get(&first_flag[i]));
  }
  return unused;
}
static void set_and_look(int weak) {
  pthread_t thread;
  use_weak = weak;
  begin_meetings();
  memset(first_flag, 0, sizeof first_flag);
  memset(second_flag, 0, sizeof second_flag);
  if (pthread_create(&thread, NULL, second_of_two, NULL) != 0) abort();
  for (int i = 0; i < kRounds; ++i) {
    meet(i, kMeetEach);
    set(&first_flag[i], 1);
    full_fence();
    first_saw[i] = get(&second_flag[i]);
  }
  pthread_join(thread, NULL);
  for (int i = 0; i < kRounds; ++i) EXPECT(first_saw[i] || second_saw[i]);
}
CASE(full_fence_orders_store_and_load, "GX-173") {
  set_and_look(0);
#ifdef GASNET_PAR
  set_and_look(1);
#endif
}

/* A store before a write fence is seen after a read fence by a thread that sees a store after. */
static int data[kRounds], ready;
static void *write_data(void *unused) {
  for (int i = 0; i < kRounds; ++i) {
    set(&data[i], i + 1);
    if (use_weak)
      gasnett_weak_wmb();
    else
      gasnett_local_wmb();
    set(&ready, i + 1);
  }
  return unused;
}
static void write_and_read(int weak) {
  pthread_t thread;
  use_weak = weak;
  ready = 0;
  memset(data, 0, sizeof data);
  if (pthread_create(&thread, NULL, write_data, NULL) != 0) abort();
  for (int seen = 0; seen < kRounds;) {
    const int now = get(&ready);
    if (weak)
      gasnett_weak_rmb();
    else
      gasnett_local_rmb();
    for (; seen < now; ++seen) EXPECT_EQ(get(&data[seen]), seen + 1);
    gasnett_spinloop_hint();
  }
  pthread_join(thread, NULL);
}
CASE(write_fence_and_read_fence, "GX-173") {
  write_and_read(0);
#ifdef GASNET_PAR
  write_and_read(1);
#endif
}
