/* Services of GASNet-1 that have no successor: gasnetex.h alone gives them to clients of GASNet-EX
 * (GX-015). */
#include "gasnetex.h"

#if !defined(GASNET_OK) || !defined(GASNET_BLOCKUNTIL) || !defined(GASNET_BEGIN_FUNCTION) ||    \
    !defined(GASNET_GET_THREADINFO) || !defined(GASNET_POST_THREADINFO) ||                      \
    !defined(GASNET_CONFIG_STRING) || !defined(GASNET_MAXNODES) || !defined(GASNET_PAGESIZE) || \
    !defined(GASNET_ALIGNED_SEGMENTS)
enum { kMacros = 0 };
#else
enum { kMacros = 1 };
#endif
#if GASNET_ERR_NOT_INIT != GASNET_OK && GASNET_ERR_RESOURCE != GASNET_OK && \
    GASNET_ERR_BAD_ARG != GASNET_OK && GASNET_ERR_NOT_READY != GASNET_OK && \
    GASNET_ERR_BARRIER_MISMATCH != GASNET_OK && GASNET_OK == 0
enum { kErrors = 1 };
#else
enum { kErrors = 0 };
#endif

static int named_barrier(int id) {
  gasnet_barrier_notify(id, 0);
  return gasnet_barrier_wait(id, 0);
}
static int tried_barrier(void) {
  int result;
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  while ((result = gasnet_barrier_try(0, GASNET_BARRIERFLAG_ANONYMOUS)) == GASNET_ERR_NOT_READY) {
  }
  return result;
}
static int mismatched_barrier(void) {
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_MISMATCH);
  return gasnet_barrier_wait(0, GASNET_BARRIERFLAG_MISMATCH);
}
static int polls(void) { return gasnet_AMPoll(); }
static void wait_for(volatile int *word) { GASNET_BLOCKUNTIL(*word != 0); }
static const char *name_of(int error) { return gasnet_ErrorName(error); }
static const char *words_of(int error) { return gasnet_ErrorDesc(error); }
static const char *value_of(const char *name) { return gasnet_getenv(name); }
static uintptr_t largest_here(void) { return gasnet_getMaxLocalSegmentSize(); }
static uintptr_t largest_everywhere(void) { return gasnet_getMaxGlobalSegmentSize(); }
static int wait_modes(void) {
  return gasnet_set_waitmode(GASNET_WAIT_BLOCK) | gasnet_set_waitmode(GASNET_WAIT_SPINBLOCK) |
         gasnet_set_waitmode(GASNET_WAIT_SPIN);
}
static int segments_of_all(gasnet_seginfo_t *table, int entries) {
  return gasnet_getSegmentInfo(table, entries);
}
static int thread_information(gasnet_threadinfo_t information) {
  GASNET_POST_THREADINFO(information);
  return gasnet_AMPoll();
}
static int function_with_information(void) {
  GASNET_BEGIN_FUNCTION();
  return thread_information(GASNET_GET_THREADINFO());
}
static void leave(int code) { gasnet_exit(code); }

#include "../ex.h"

CASE(constants, "GX-015") {
  EXPECT(kMacros);
  EXPECT(kErrors);
}

CASE(polling_and_waiting, "GX-015") {
  volatile int word = 1;
  wait_for(&word);
  EXPECT_EQ(polls(), GASNET_OK);
  EXPECT_EQ(wait_modes(), GASNET_OK);
  EXPECT_EQ(function_with_information(), GASNET_OK);
}

CASE(barriers, "GX-015") {
  EXPECT_EQ(named_barrier(7), GASNET_OK);
  EXPECT_EQ(tried_barrier(), GASNET_OK);
  EXPECT_EQ(mismatched_barrier(), GASNET_ERR_BARRIER_MISMATCH);
  EXPECT_EQ(named_barrier(8), GASNET_OK);
}

CASE(errors_have_names_and_words, "GX-015") {
  EXPECT(strcmp(name_of(GASNET_ERR_BAD_ARG), "GASNET_ERR_BAD_ARG") == 0);
  EXPECT(strcmp(name_of(GASNET_OK), "GASNET_OK") == 0);
  EXPECT(words_of(GASNET_ERR_RESOURCE) != NULL && words_of(GASNET_ERR_RESOURCE)[0] != 0);
}

CASE(environment, "GX-015") {
  const char *const word = value_of("CONFORM_WORD");
  EXPECT(word != NULL && strcmp(word, "spoken at the start") == 0);
  EXPECT(value_of("CONFORM_NEVER_SET") == NULL);
}

CASE(segments_of_everybody, "GX-015") {
  gasnet_seginfo_t all[kNodesMax];
  EXPECT(largest_here() >= kSegmentBytes && largest_everywhere() <= largest_here());
  EXPECT_EQ(segments_of_all(all, kNodesMax), GASNET_OK);
  for (gex_Rank_t rank = 0; rank < nodes; ++rank)
    EXPECT(all[rank].addr == segments[rank].addr && all[rank].size == segments[rank].size);
}

/* The sizes are asked for before there is a segment. */
JOB(sizes_before_attach, "GX-015", kNetwork, 0, "") {
  start_ex_job(0, 0);
  EXPECT(largest_here() >= GASNET_PAGESIZE);
  EXPECT(largest_everywhere() >= GASNET_PAGESIZE && largest_everywhere() <= largest_here());
}
JOB(exit_code, "GX-015", kNetwork, 41, "") {
  start_ex_job(0, 0);
  barrier();
  leave(41);
}
