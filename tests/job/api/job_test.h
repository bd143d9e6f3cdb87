/* Helpers of the job tests: C99, the public API alone. A failed expectation ends the job with 1. */
#ifndef PINWIRE_JOB_TEST_H
#define PINWIRE_JOB_TEST_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../support/byte_pattern.h"
#include "../../support/expect.h"
#include "../../support/statistic.h"
#include "gasnet.h"
#include "pinwire.h"

static inline void fail_at(const char *file, int line, const char *format, ...) {
  va_list values;
  va_start(values, format);
  fprintf(stderr, "rank %u: %s:%d: ", (unsigned)gasnet_mynode(), file, line);
  vfprintf(stderr, format, values);
  fprintf(stderr, "\n");
  va_end(values);
  fflush(stderr);
  gasnet_exit(1);
}

static inline uint64_t statistic(const char *name) {
  uint64_t value = 0;
  if (!find_statistic(name, &value)) fail_at(__FILE__, __LINE__, "no statistic %s", name);
  return value;
}

static gasnet_node_t me, nodes;
static gasnet_seginfo_t segments[64];

#ifdef GASNET_SEGMENT_EVERYTHING
/* There are no segments: memory of each rank takes their place, and a message says where it is. */
static volatile unsigned places_known;
static void learn_place(gasnet_token_t token, void *place, size_t nbytes) {
  gasnet_node_t source = 64;
  gasnet_AMGetMsgSource(token, &source);
  if (source < 64 && nbytes == sizeof segments[0]) memcpy(&segments[source], place, nbytes);
  __sync_fetch_and_add(&places_known, 1);
}
static inline void share_places(gasnet_handler_t handler, uintptr_t bytes) {
  gasnet_seginfo_t mine = {malloc(bytes + 1), bytes};
  for (gasnet_node_t to = 0; to < nodes; ++to)
    gasnet_AMRequestMedium0(to, handler, &mine, sizeof mine);
  GASNET_BLOCKUNTIL(places_known == nodes);
}
#endif

/* init, attach with a segment of `segment_bytes`, and the queries that every test wants. */
static inline void start_job(int *argc, char ***argv, gasnet_handlerentry_t *table, int entries,
                             uintptr_t segment_bytes) {
  gasnet_handlerentry_t all[128];
  if (entries != 0) memcpy(all, table, (size_t)entries * sizeof table[0]);
#ifdef GASNET_SEGMENT_EVERYTHING
  const int own_entries = 1;
  all[entries].index = 0;
  all[entries].fnptr = (void (*)())learn_place;
#else
  const int own_entries = 0;
#endif
  if (gasnet_init(argc, argv) != GASNET_OK) exit(1);
  if (gasnet_attach(all, entries + own_entries, segment_bytes, 0) != GASNET_OK) gasnet_exit(1);
  me = gasnet_mynode();
  nodes = gasnet_nodes();
  EXPECT(nodes <= 64);
  EXPECT_EQ(gasnet_getSegmentInfo(segments, 64), GASNET_OK);
  EXPECT(segments[me].size >= segment_bytes);
#ifdef GASNET_SEGMENT_EVERYTHING
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
  share_places(all[entries].index, segment_bytes);
#endif
}

static inline void barrier(void) {
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  EXPECT_EQ(gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS), GASNET_OK);
}

/* Ends the job after all ranks agree that they are done. */
static inline void end_job(const char *name) {
  barrier();
  if (me == 0) printf("%s: ok with %u ranks\n", name, (unsigned)nodes);
  fflush(stdout);
  gasnet_exit(0);
}

/* Handlers, in whatever thread they run, write the counter. */
static inline int read_now(const volatile int *counter) { return __atomic_load_n(counter, __ATOMIC_ACQUIRE); }

static inline void fill(void *memory, size_t bytes, unsigned seed) { fill_pattern(memory, bytes, seed); }
static inline int holds(const void *memory, size_t bytes, unsigned seed) { return holds_pattern(memory, bytes, seed); }


#endif
