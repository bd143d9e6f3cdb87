/* Handler-safe locks by their second name (GASNet-EX 0.19, "Handler-safe locks"). */
#include <pthread.h>

#include "../meet.h"

_Static_assert(__builtin_types_compatible_p(gex_HSL_t, gasnet_hsl_t), "one type");

static gex_HSL_t fixed = GEX_HSL_INITIALIZER;

CASE(declarations, "GX-168") {
  static gex_HSL_t lock = GEX_HSL_INITIALIZER;
  gex_HSL_t made, *const pointer = &made;
  IS(gex_HSL_Init(pointer), void);
  IS(gex_HSL_Destroy(pointer), void);
  IS(gex_HSL_Lock(pointer), void);
  IS(gex_HSL_Unlock(pointer), void);
  IS(gex_HSL_Trylock(pointer), int);
  memset(&made, 0xff, sizeof made);
  gex_HSL_Init(pointer);
  EXPECT_EQ(gex_HSL_Trylock(pointer), GASNET_OK);
  gex_HSL_Unlock(pointer);
  gex_HSL_Lock(pointer);
  gex_HSL_Unlock(pointer);
  gex_HSL_Destroy(pointer);
  EXPECT_EQ(gex_HSL_Trylock(&lock), GASNET_OK);
  gex_HSL_Unlock(&lock);
  gex_HSL_Destroy(&lock);
}

/* Another thread tries the lock, tells the result, and does not keep the lock. */
typedef struct {
  gex_HSL_t *lock;
  int result;
} trial_t;
static void *try_it(void *argument) {
  trial_t *const trial = argument;
  trial->result = gex_HSL_Trylock(trial->lock);
  if (trial->result == GASNET_OK) gex_HSL_Unlock(trial->lock);
  return NULL;
}
static int tried_elsewhere(gex_HSL_t *lock) {
  pthread_t thread;
  trial_t trial = {lock, -1};
  if (pthread_create(&thread, NULL, try_it, &trial) != 0) abort();
  pthread_join(thread, NULL);
  return trial.result;
}

/* Fails where a name is another's or does nothing: an Init that leaves what lay there, an
 * initializer that is locked, a Lock or Trylock that takes nothing, an Unlock that keeps it. */
static void use_each_call(gex_HSL_t *lock) {
  EXPECT_EQ(tried_elsewhere(lock), GASNET_OK);
  gex_HSL_Lock(lock);
  EXPECT_EQ(tried_elsewhere(lock), GASNET_ERR_NOT_READY);
  gex_HSL_Unlock(lock);
  EXPECT_EQ(gex_HSL_Trylock(lock), GASNET_OK);
  EXPECT_EQ(tried_elsewhere(lock), GASNET_ERR_NOT_READY);
  gex_HSL_Unlock(lock);
  EXPECT_EQ(tried_elsewhere(lock), GASNET_OK);
  gex_HSL_Destroy(lock);
}

/* In PARSYNC one thread waits while the other calls. */
CASE(each_call_does_what_its_name_says, "GX-168") {
  gex_HSL_t by_initializer = GEX_HSL_INITIALIZER, made;
#ifdef GASNET_SEQ
  NOT_HERE("one client thread alone may call");
#endif
  use_each_call(&by_initializer);
  for (int life = 0; life < 2; ++life) { /* one after another in the same memory */
    memset(&made, 0xff, sizeof made);
    gex_HSL_Init(&made);
    use_each_call(&made);
  }
}

/* Each is an expression that uses its argument once, and another lock stays as it is. */
CASE(arguments_are_used_once, "GX-168") {
  gex_HSL_t locks[] = {GEX_HSL_INITIALIZER, GEX_HSL_INITIALIZER}, *at = locks;
  gex_HSL_Destroy(at++);
  gex_HSL_Init(--at);
  (gex_HSL_Lock(at++), gex_HSL_Lock(at--));
  (gex_HSL_Unlock(at + 1), gex_HSL_Unlock(at++));
  EXPECT_EQ(gex_HSL_Trylock(--at), GASNET_OK);
  EXPECT(at == locks);
  EXPECT_EQ(gex_HSL_Trylock(++at), GASNET_OK);
  gex_HSL_Unlock(at--);
  gex_HSL_Unlock(at);
  EXPECT(at == locks);
}

/* A lock that one API makes or locks the other unlocks or destroys. */
CASE(both_names_are_of_one_lock, "GX-169") {
  gex_HSL_t by_old_initializer = GASNET_HSL_INITIALIZER, made;
  gasnet_hsl_t by_new_initializer = GEX_HSL_INITIALIZER, made_too;
  gex_HSL_Lock(&by_old_initializer);
  gasnet_hsl_unlock(&by_old_initializer);
  gasnet_hsl_lock(&by_new_initializer);
  gex_HSL_Unlock(&by_new_initializer);
  gasnet_hsl_init(&made);
  EXPECT_EQ(gex_HSL_Trylock(&made), GASNET_OK);
  gasnet_hsl_unlock(&made);
  gex_HSL_Destroy(&made);
  gex_HSL_Init(&made_too);
  EXPECT_EQ(gasnet_hsl_trylock(&made_too), GASNET_OK);
  gex_HSL_Unlock(&made_too);
  gasnet_hsl_destroy(&made_too);
}

/* ---- Handlers -------------------------------------------------------------------------------- */

enum { kCount = 400 };
static uint64_t sum;
static _Atomic int added;
static void on_add(gex_Token_t token, gex_AM_Arg_t value) {
  (void)token;
  gex_HSL_Lock(&fixed);
  sum += (uint64_t)value;
  gex_HSL_Unlock(&fixed);
  ++added;
}
EX_HANDLER(on_add, GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 1);

CASE(locks_protect_what_handlers_share, "GX-169") {
  gex_HSL_Lock(&fixed);
  sum = 0;
  gex_HSL_Unlock(&fixed);
  barrier();
  for (int i = 0; i < kCount; ++i) {
    gex_AM_RequestShort1(team, (me + 1) % nodes, on_add_index, 0, 2);
    gex_HSL_Lock(&fixed);
    sum += 1;
    gex_HSL_Unlock(&fixed);
  }
  AWAIT(added, kCount);
  gasnet_hsl_lock(&fixed);
  EXPECT_EQ(sum, 3 * kCount);
  gasnet_hsl_unlock(&fixed);
}

/* ---- Threads: by turns in PARSYNC ------------------------------------------------------------ */

enum { kThreads = 2, kTurns = 8000, kMeetEach = 1000 };
static uint64_t tally;

static void *add_many(void *argument) {
  for (int i = 0; i < kTurns; ++i) {
    meet(i, kMeetEach);
    if (argument == NULL)
      gex_HSL_Lock(&fixed);
    else
      while (gex_HSL_Trylock(&fixed) != GASNET_OK) gasnett_spinloop_hint();
    ++tally;
    gex_HSL_Unlock(&fixed);
  }
  return NULL;
}

CASE(locks_exclude_threads, "GX-169") {
  pthread_t threads[kThreads];
#ifndef GASNET_PAR
  NOT_HERE("client threads may not call at once");
#endif
  tally = 0;
  begin_meetings();
  for (int t = 0; t < kThreads; ++t)
    if (pthread_create(&threads[t], NULL, add_many, t % 2 ? &threads[t] : NULL) != 0) abort();
  for (int t = 0; t < kThreads; ++t) pthread_join(threads[t], NULL);
  EXPECT_EQ(tally, kTurns * kThreads);
}

CASE(trylock_of_a_held_lock, "GX-169") {
#ifndef GASNET_PAR
  NOT_HERE("client threads may not call at once");
#endif
  gex_HSL_Lock(&fixed);
  EXPECT_EQ(tried_elsewhere(&fixed), GASNET_ERR_NOT_READY);
  gex_HSL_Unlock(&fixed);
  EXPECT_EQ(tried_elsewhere(&fixed), GASNET_OK);
}
