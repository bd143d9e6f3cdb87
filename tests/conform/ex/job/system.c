/* Basic types and what the system tells (GX-009, GX-010, GX-024 to GX-029). */
#include <stddef.h>
#include <unistd.h>

#include "../ex.h"
#ifndef GASNET_SEQ
#include <pthread.h>
#endif

#define SAME(type, other) \
  _Static_assert(__builtin_types_compatible_p(type, other), #type " is " #other)

SAME(gex_Rank_t, gasnet_node_t);
SAME(gex_Event_t, gasnet_handle_t);
SAME(gex_Token_t, gasnet_token_t);
SAME(gex_AM_Index_t, gasnet_handler_t);
SAME(gex_AM_Index_t, uint8_t);
SAME(gex_AM_Arg_t, gasnet_handlerarg_t);
SAME(gex_AM_Arg_t, int32_t);
SAME(gex_RMA_Value_t, gasnet_register_value_t);
SAME(gex_HSL_t, gasnet_hsl_t);
SAME(gex_Addr_t, void *);
#if SIZEOF_GEX_RMA_VALUE_T != SIZEOF_GASNET_REGISTER_VALUE_T
#error "SIZEOF_GEX_RMA_VALUE_T"
#endif

CASE(types_of_both_apis_are_the_same, "GX-009 GX-024 GX-029") {
  gex_HSL_t lock = GASNET_HSL_INITIALIZER;
  gasnet_hsl_t old_lock = GEX_HSL_INITIALIZER;
  EXPECT(GEX_EVENT_INVALID == GASNET_INVALID_HANDLE);
  EXPECT_EQ(sizeof(gex_RMA_Value_t), SIZEOF_GEX_RMA_VALUE_T);
  EXPECT((gex_Rank_t)0 - 1 > 0); /* unsigned */
  gasnet_hsl_lock(&lock);
  gasnet_hsl_unlock(&lock);
  gex_HSL_Lock(&old_lock);
  gex_HSL_Unlock(&old_lock);
}

CASE(memvec_is_laid_out_as_gasnet_memvec, "GX-010 GX-029") {
  char bytes[3];
  gex_Memvec_t piece = {bytes, sizeof bytes};
  gasnet_memvec_t old;
  void **const address = &piece.gex_addr;
  size_t *const length = &piece.gex_len;
  memcpy(&old, &piece, sizeof old);
  EXPECT(old.addr == *address && old.len == *length);
  EXPECT_EQ(sizeof(gex_Memvec_t), sizeof(gasnet_memvec_t));
  EXPECT_EQ(offsetof(gex_Memvec_t, gex_addr), offsetof(gasnet_memvec_t, addr));
  EXPECT_EQ(offsetof(gex_Memvec_t, gex_len), offsetof(gasnet_memvec_t, len));
}

CASE(calls_have_their_types, "GX-024") {
  gex_Rank_t (*const job_rank)(void) = gex_System_QueryJobRank;
  gex_Rank_t (*const job_size)(void) = gex_System_QueryJobSize;
  int (*const get_verbose)() = gex_System_GetVerboseErrors;
  void (*const set_verbose)(int) = gex_System_SetVerboseErrors;
  uint64_t (*const max_threads)(void) = gex_System_QueryMaxThreads;
  EXPECT(job_rank() < job_size());
  set_verbose(get_verbose());
  EXPECT(max_threads() >= 1);
}

CASE(ranks_of_the_job, "GX-024 GX-025 GX-026") {
  EXPECT(GEX_RANK_INVALID > gex_System_QueryJobSize());
  EXPECT(GEX_RANK_INVALID > GASNET_MAXNODES - 1);
  EXPECT_EQ(gex_System_QueryJobRank(), gasnet_mynode());
  EXPECT_EQ(gex_System_QueryJobSize(), gasnet_nodes());
  EXPECT_EQ(gex_System_QueryJobRank(), gex_TM_QueryRank(team));
  EXPECT_EQ(gex_System_QueryJobSize(), gex_TM_QuerySize(team));
  for (gex_Rank_t rank = 0; rank < nodes; ++rank)
    EXPECT(gex_TM_TranslateRankToJobrank(team, rank) == rank);
}

/* ---- verbose errors (GX-027) ----------------------------------------------------------------- */

/* The text that a failing call has written, as it was told to, to either stream. */
static long bytes_said(int verbose) {
  gex_AM_Entry_t bad = {GEX_AM_INDEX_BASE - 1,
                        (gex_AM_Fn_t)barrier,
                        GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST,
                        0,
                        NULL,
                        "bad"};
  FILE *const said = tmpfile();
  const int out = dup(1), err = dup(2);
  if (!said || out < 0 || err < 0) abort();
  fflush(stdout);
  fflush(stderr);
  dup2(fileno(said), 1);
  dup2(fileno(said), 2);
  gex_System_SetVerboseErrors(verbose);
  EXPECT_EQ(gex_System_GetVerboseErrors(), verbose);
  EXPECT(gex_EP_RegisterHandlers(endpoint, &bad, 1) != GASNET_OK);
  fflush(stdout);
  fflush(stderr);
  dup2(out, 1);
  dup2(err, 2);
  close(out);
  close(err);
  const long bytes = (long)lseek(fileno(said), 0, SEEK_END);
  fclose(said);
  return bytes;
}
CASE(errors_say_why_unless_told_not_to, "GX-027") {
  EXPECT_EQ(gex_System_GetVerboseErrors(), 1); /* by default */
  EXPECT(bytes_said(1) > 0);
  EXPECT_EQ(bytes_said(0), 0);
  EXPECT(bytes_said(1) > 0);
}
JOB(errors_say_why_by_default, "GX-027", kLocal, 0, "gex_Segment_Attach") {
  start_ex_job(0, 0);
  EXPECT_EQ(gex_System_GetVerboseErrors(), 1);
  EXPECT_EQ(gex_Segment_Attach(&segment, team, GASNET_PAGESIZE + 1), GASNET_ERR_BAD_ARG);
}

/* ---- threads (GX-028) ------------------------------------------------------------------------ */

enum { kAlive = 3, kInTurn = 40 };
#ifdef GASNET_SEQ
CASE(one_thread_in_seq, "GX-028") { EXPECT_EQ(gex_System_QueryMaxThreads(), 1); }
#else
static void *enter(void *number) {
  const gex_Rank_t to = (me + 1) % nodes;
  gasnet_AMPoll();
  gex_RMA_PutNBIVal(team, to, part(to) + 4096, 1, 8, 0);
  gex_NBI_Wait(GEX_EC_ALL, 0);
  gex_RMA_PutBlockingVal(team, to, part(to) + 8 * (intptr_t)number,
                         (gex_RMA_Value_t)(intptr_t)number, 8, 0);
  return NULL;
}
static void *stay_out(void *unused) { return unused; }

CASE(threads_that_ended_do_not_count, "GX-028") {
  const gex_Rank_t to = (me + 1) % nodes;
  const uint64_t limit = gex_System_QueryMaxThreads();
  EXPECT(limit >= 2);
  for (intptr_t i = 0; i < kInTurn; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, enter, (void *)i) != 0) abort();
    pthread_join(thread, NULL);
    EXPECT(gex_RMA_GetBlockingVal(team, to, part(to) + 8 * i, 8, 0) == (gex_RMA_Value_t)i);
  }
}

/* All of these are alive when the last has entered; each by turns, as PARSYNC wants it. */
static pthread_barrier_t all_entered;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static void *enter_and_stay(void *number) {
  pthread_mutex_lock(&turn);
  (void)enter(number);
  pthread_mutex_unlock(&turn);
  pthread_barrier_wait(&all_entered);
  return NULL;
}

/* With no more threads than may live: those that have ended, or never entered, make room. */
JOB(as_many_threads_as_it_says, "GX-028", kLocal, 0, "") {
  setenv("GASNET_MAX_THREADS", "4", 1);
  start_ex_job(0, kSegmentBytes);
  const uint64_t limit = gex_System_QueryMaxThreads();
  const int alive = limit - 1 < kAlive ? (int)(limit - 1) : kAlive;
  EXPECT(limit >= 2);
  for (int round = 0; alive > 0 && round < kInTurn; ++round) {
    pthread_t threads[kAlive], outsider;
    pthread_barrier_init(&all_entered, NULL, (unsigned)alive);
    if (pthread_create(&outsider, NULL, stay_out, NULL) != 0) abort();
    for (intptr_t i = 0; i < alive; ++i)
      if (pthread_create(&threads[i], NULL, enter_and_stay, (void *)i) != 0) abort();
    for (int i = 0; i < alive; ++i) pthread_join(threads[i], NULL);
    pthread_join(outsider, NULL);
    pthread_barrier_destroy(&all_entered);
    gex_RMA_PutBlockingVal(team, me, part(me), 1, 8, 0);
  }
}
#endif
