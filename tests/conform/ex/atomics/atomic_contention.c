/* Atomic operations of all ranks, and in PAR of several threads of each, on the same words at once:
 * they come to what some serial order comes to. */
#include "../ex.h"

#if GASNET_PAR
#include <pthread.h>
enum { kThreads = 3 };
#else
enum { kThreads = 1 };
#endif

/* Words that all ranks share: those at the owner's own part of its memory. */
static void *shared_word(gex_Rank_t owner, int i) {
  return (unsigned char *)segments[owner].addr + owner * part_bytes() + 64 * i;
}
static void clear_words(void) {
  memset(shared_word(me, 0), 0, 4096);
  barrier();
}

/* Runs body(number) in each of this rank's threads, `number` counting those of all ranks. */
static void (*body_of_threads)(unsigned number);
#if GASNET_PAR
static void *run_body(void *number) {
  body_of_threads((unsigned)(uintptr_t)number);
  return NULL;
}
#endif
static void on_each_thread(void (*body)(unsigned number)) {
  body_of_threads = body;
#if GASNET_PAR
  pthread_t threads[kThreads];
  for (unsigned i = 0; i < kThreads; ++i)
    EXPECT_EQ(pthread_create(&threads[i], NULL, run_body, (void *)(uintptr_t)(me * kThreads + i)),
              0);
  for (unsigned i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
#else
  body_of_threads(me);
#endif
}
static unsigned all_threads(void) { return (unsigned)nodes * kThreads; }

static gex_AD_t domain;
enum { kTimes = 150, kTicketsMax = kNodesMax * kThreads * kTimes };

/* ---- Tickets: each number is given once -------------------------------------------------------
 */

static uint32_t taken[kTicketsMax]; /* how often, of those of one word; by this rank, then by all */
static gex_Rank_t owner;

static void take(uint64_t ticket) {
  EXPECT(ticket < all_threads() * kTimes);
  if (ticket < kTicketsMax) __atomic_fetch_add(&taken[ticket], 1, __ATOMIC_RELAXED);
}
static void every_ticket_is_taken_once(void) {
  const size_t count = all_threads() * kTimes;
  gex_Event_Wait(gex_Coll_ReduceToAllNB(team, taken, taken, GEX_DT_U32, sizeof *taken, count,
                                        GEX_OP_ADD, NULL, NULL, 0));
  for (size_t i = 0; i < count; ++i) EXPECT_EQ(taken[i], 1);
}

static void take_by_inc(unsigned number) {
  uint64_t old = 0;
  for (int i = 0; i < kTimes; ++i) {
    if ((unsigned)i % 2 == number % 2) {
      gex_Event_Wait(
          gex_AD_OpNB_U64(domain, &old, owner, shared_word(owner, 0), GEX_OP_FINC, 0, 0, 0));
    } else {
      gex_AD_OpNBI_U64(domain, &old, owner, shared_word(owner, 0), GEX_OP_FADD, 1, 0, 0);
      gex_NBI_Wait(GEX_EC_RMW, 0);
    }
    take(old);
  }
}
/* Many at once, so that several of one rank's own are under way. */
static void take_many_at_once(unsigned number) {
  uint64_t old[kTimes];
  gex_Event_t events[kTimes];
  (void)number;
  for (int i = 0; i < kTimes; ++i)
    events[i] =
        gex_AD_OpNB_U64(domain, &old[i], owner, shared_word(owner, 0), GEX_OP_FINC, 0, 0, 0);
  gex_Event_WaitAll(events, kTimes, 0);
  for (int i = 0; i < kTimes; ++i) take(old[i]);
}
static void take_by_cas(unsigned number) {
  uint64_t seen = 0, old;
  for (int i = 0; i < kTimes; ++i) {
    for (;;) {
      gex_Event_Wait(gex_AD_OpNB_U64(domain, &old, owner, shared_word(owner, 0), GEX_OP_FCAS, seen,
                                     seen + 1, 0));
      if (old == seen) break;
      seen = old;
    }
    take(seen);
    seen += number % 3; /* some guess, wrongly */
  }
}

static void tickets(void (*body)(unsigned)) {
  gex_AD_Create(&domain, team, GEX_DT_U64, GEX_OP_FINC | GEX_OP_FADD | GEX_OP_FCAS, 0);
  for (owner = 0; owner < nodes; ++owner) {
    memset(taken, 0, sizeof taken);
    clear_words();
    on_each_thread(body);
    every_ticket_is_taken_once();
    barrier();
    EXPECT_EQ(*(uint64_t *)shared_word(me, 0), me == owner ? all_threads() * kTimes : 0);
    barrier();
  }
  gex_AD_Destroy(domain);
}
CASE(each_increment_counts, "GX-151 GX-157") { tickets(take_by_inc); }
CASE(those_of_one_rank_too, "GX-151 GX-157") { tickets(take_many_at_once); }
CASE(one_cas_of_several_succeeds, "GX-151 GX-157") { tickets(take_by_cas); }

/* ---- Operations of each kind, on a word each ---------------------------------------------------
 */

/* On every rank's words: sums that come to nothing but one for each thread, the largest and the
 * least, bits. */
static void mix_I64(unsigned number) {
  for (int i = 0; i < kTimes; ++i) {
    const gex_Rank_t to = (gex_Rank_t)i % nodes;
    const int64_t value = (int64_t)number * kTimes + i;
    int64_t ignored;
    gex_AD_OpNBI_I64(domain, NULL, to, shared_word(to, 0), GEX_OP_ADD, value + 1, 0, 0);
    gex_AD_OpNBI_I64(domain, NULL, to, shared_word(to, 0), GEX_OP_SUB, value, 0, 0);
    gex_AD_OpNBI_I64(domain, NULL, to, shared_word(to, 1), GEX_OP_MAX, value, 0, 0);
    gex_AD_OpNBI_I64(domain, &ignored, to, shared_word(to, 2), GEX_OP_FMIN, -value, 0, 0);
    gex_AD_OpNBI_I64(domain, NULL, to, shared_word(to, 3), GEX_OP_OR, 1ll << number % 60, 0, 0);
    gex_AD_OpNBI_I64(domain, NULL, to, shared_word(to, 4), GEX_OP_XOR, value, 0, 0);
    gex_AD_OpNBI_I64(domain, &ignored, to, shared_word(to, 4), GEX_OP_FXOR, value + 1, 0, 0);
    gex_NBI_Wait(GEX_EC_RMW, 0);
  }
}
CASE(operations_of_many_kinds, "GX-150 GX-151 GX-157") {
  gex_AD_Create(
      &domain, team, GEX_DT_I64,
      GEX_OP_ADD | GEX_OP_SUB | GEX_OP_MAX | GEX_OP_FMIN | GEX_OP_OR | GEX_OP_XOR | GEX_OP_FXOR, 0);
  clear_words();
  on_each_thread(mix_I64);
  barrier();
  int64_t sum = 0, most = 0, bits = 0, odds = 0;
  for (unsigned number = 0; number < all_threads(); ++number) {
    for (int i = 0; i < kTimes; ++i) {
      const int64_t value = (int64_t)number * kTimes + i;
      if ((gex_Rank_t)i % nodes != me) continue;
      sum += 1;
      most = value > most ? value : most;
      bits |= 1ll << number % 60;
      odds ^= value ^ (value + 1);
    }
  }
  EXPECT_EQ(*(int64_t *)shared_word(me, 0), sum);
  EXPECT_EQ(*(int64_t *)shared_word(me, 1), most);
  EXPECT_EQ(*(int64_t *)shared_word(me, 2), -most);
  EXPECT_EQ(*(int64_t *)shared_word(me, 3), bits);
  EXPECT_EQ(*(int64_t *)shared_word(me, 4), odds);
  barrier();
  gex_AD_Destroy(domain);
}

/* Two neighbours in one 64-bit word, of one domain. */
static void mix_I32(unsigned number) {
  for (int i = 0; i < kTimes; ++i) {
    const gex_Rank_t to = (gex_Rank_t)i % nodes;
    int32_t *const words = shared_word(to, 0);
    gex_AD_OpNBI_I32(domain, NULL, to, words + number % 2, GEX_OP_MULT, -1, 0, 0);
    gex_AD_OpNBI_I32(domain, NULL, to, words + number % 2, GEX_OP_MULT, -1, 0, 0);
    gex_AD_OpNBI_I32(domain, NULL, to, words + 2, GEX_OP_INC, 0, 0, 0);
    gex_AD_OpNBI_I32(domain, NULL, to, words + 3, GEX_OP_DEC, 0, 0, 0);
    gex_NBI_Wait(GEX_EC_RMW, 0);
  }
}
CASE(neighbours_in_a_word, "GX-157") {
  int32_t *const words = shared_word(me, 0);
  int32_t due = 0;
  gex_AD_Create(&domain, team, GEX_DT_I32, GEX_OP_MULT | GEX_OP_INC | GEX_OP_DEC, 0);
  memset(shared_word(me, 0), 0, 4096);
  words[0] = 17, words[1] = 19;
  barrier();
  on_each_thread(mix_I32);
  barrier();
  for (int i = 0; i < kTimes; ++i) due += (gex_Rank_t)i % nodes == me;
  due *= (int32_t)all_threads();
  EXPECT(words[0] == 17 && words[1] == 19 && words[2] == due && words[3] == -due);
  barrier();
  gex_AD_Destroy(domain);
}

static void add_halves(unsigned number) {
  for (int i = 0; i < kTimes; ++i) {
    const gex_Rank_t to = (number + (gex_Rank_t)i) % nodes;
    double old = -1;
    gex_Event_Wait(gex_AD_OpNB_DBL(domain, &old, to, shared_word(to, 0), GEX_OP_FADD, 0.5, 0, 0));
    EXPECT(old >= 0);
    gex_Event_Wait(gex_AD_OpNB_DBL(domain, NULL, to, shared_word(to, 1), GEX_OP_INC, 0, 0, 0));
  }
}
/* Halves are exact. */
CASE(sums_of_floats, "GX-151 GX-157") {
  double here[2], all[2];
  gex_AD_Create(&domain, team, GEX_DT_DBL, GEX_OP_FADD | GEX_OP_INC, 0);
  clear_words();
  on_each_thread(add_halves);
  barrier();
  here[0] = *(double *)shared_word(me, 0);
  here[1] = *(double *)shared_word(me, 1);
  gex_Event_Wait(
      gex_Coll_ReduceToAllNB(team, all, here, GEX_DT_DBL, 8, 2, GEX_OP_ADD, NULL, NULL, 0));
  EXPECT(all[0] == 0.5 * kTimes * all_threads() && all[1] == (double)kTimes * all_threads());
  barrier();
  gex_AD_Destroy(domain);
}
