/* The job: start, environment, end (2.1, 2.2). */
#include <unistd.h>

#include "gasnet1.h"

CASE(nodes_are_numbered_processes, "C1-008 C1-011 C1-110 C1-302") {
  pid_t pids[kNodesMax] = {0};
  const pid_t own = getpid();
  EXPECT(gasnet_mynode() == me && gasnet_nodes() == nodes && me < nodes);
  /* The word of node k is in its own segment, at an address that every node knows. */
  memcpy(segments[me].addr, &own, sizeof own);
  barrier();
  for (gasnet_node_t k = 0; k < nodes; ++k) {
    gasnet_get(&pids[k], k, segments[k].addr, sizeof own);
    for (gasnet_node_t j = 0; j < k; ++j) EXPECT(pids[j] != pids[k]);
  }
  EXPECT_EQ(pids[me], own);
}

CASE(second_init_and_attach_are_errors, "C1-058 C1-088") {
  EXPECT(gasnet_init(&program_argc, &program_argv) != GASNET_OK);
  EXPECT(gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0) != GASNET_OK);
  EXPECT(gasnet_mynode() == me && gasnet_nodes() == nodes);
}

CASE(environment_is_that_of_the_start, "C1-115") {
  const char *word = gasnet_getenv("CONFORM_WORD");
  EXPECT(word != NULL && strcmp(word, "spoken at the start") == 0);
  EXPECT(gasnet_getenv("CONFORM_WORD_THAT_NOBODY_SET") == NULL);
  EXPECT(gasnet_getenv("CONFORM_WOR") == NULL);
}

CASE(segment_sizes, "C1-093 C1-094 C1-095") {
  const uintptr_t local = gasnet_getMaxLocalSegmentSize();
  const uintptr_t global = gasnet_getMaxGlobalSegmentSize();
  uintptr_t least = UINTPTR_MAX;
  EXPECT(local != 0 && local % GASNET_PAGESIZE == 0);
  EXPECT(global != 0 && global % GASNET_PAGESIZE == 0);
  memcpy(segments[me].addr, &local, sizeof local);
  barrier();
  for (gasnet_node_t k = 0; k < nodes; ++k) {
    uintptr_t theirs = 0;
    gasnet_get(&theirs, k, segments[k].addr, sizeof theirs);
    if (theirs < least) least = theirs;
  }
  EXPECT_EQ(global, least);
}

CASE(segments_are_pages_somewhere, "C1-083 C1-085 C1-113") {
  for (gasnet_node_t k = 0; k < nodes; ++k) {
    EXPECT(segments[k].addr != NULL);
    EXPECT_EQ((uintptr_t)segments[k].addr % GASNET_PAGESIZE, 0);
    EXPECT_EQ(segments[k].size % GASNET_PAGESIZE, 0);
    EXPECT(segments[k].size <= kSegmentBytes);
    if (GASNET_ALIGNED_SEGMENTS) EXPECT(segments[k].addr == segments[0].addr);
  }
}

CASE(segment_info_fills_what_it_is_given, "C1-111") {
  gasnet_seginfo_t table[kNodesMax + 1];
  for (int entries = 0; entries <= kNodesMax; ++entries) {
    memset(table, 0x5a, sizeof table);
    EXPECT_EQ(gasnet_getSegmentInfo(table, entries), GASNET_OK);
    for (int i = 0; i <= kNodesMax; ++i) {
      if (i < entries && i < (int)nodes)
        EXPECT(table[i].addr == segments[i].addr && table[i].size == segments[i].size);
      else
        EXPECT(all_bytes_are(&table[i], sizeof table[i], 0x5a));
    }
  }
  EXPECT_EQ(gasnet_getSegmentInfo(NULL, 0), GASNET_OK);
}

/* ---- what needs a job of its own ------------------------------------------------------------- */

/* Nobody has touched any page of a segment before: the first to do so is a put, a get, a Long or
 * its owner. */
static _Atomic int longs;
static void on_long(gasnet_token_t token, void *buf, size_t nbytes) {
  (void)token;
  EXPECT(holds(buf, nbytes, 6));
  ++longs;
}
JOB(untouched_pages_are_reachable, "C1-064 C1-067", kNetwork, 0, "") {
  enum { kPages = 4, kBytes = 100 };
  gasnet_handlerentry_t table[] = {{200, (void (*)())on_long}};
  unsigned char source[kBytes], back[kBytes];
  start_job(table, 1, kSegmentBytes);
  const gasnet_node_t to = (me + 1) % nodes;
  unsigned char *const pages = part(to) + part_bytes() - kPages * GASNET_PAGESIZE;
  barrier();
  fill(source, kBytes, 5);
  gasnet_put(to, pages, source, kBytes);
  fill(source, kBytes, 6);
  EXPECT_EQ(gasnet_AMRequestLong0(to, 200, source, kBytes, pages + GASNET_PAGESIZE), GASNET_OK);
  memset(back, 1, kBytes);
  gasnet_get(back, to, pages + 2 * GASNET_PAGESIZE, kBytes);
  EXPECT(all_bytes_are(back, kBytes, 0));
  GASNET_BLOCKUNTIL(longs == 1);
  EXPECT_EQ(*(volatile unsigned char *)(part(me) + part_bytes() - GASNET_PAGESIZE), 0);
  gasnet_get(back, to, pages, kBytes);
  EXPECT(holds(back, kBytes, 5));
  barrier();
}

/* A wrapper between the launcher and a rank may change the environment; the job's is that of the
 * start. */
JOB(environment_does_not_follow_the_ranks, "C1-115", kLocal, 0, "") {
  setenv("CONFORM_WORD", is_marked("somebody_was_first") ? "another" : "changed", 1);
  leave_mark("somebody_was_first");
  setenv("CONFORM_NEW_WORD", "unknown at the start", 1);
  EXPECT_EQ(gasnet_init(&program_argc, &program_argv), GASNET_OK);
  const char *const word = gasnet_getenv("CONFORM_WORD");
  EXPECT(word && strcmp(word, "spoken at the start") == 0);
  EXPECT(gasnet_getenv("CONFORM_NEW_WORD") == NULL);
  EXPECT_EQ(gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0), GASNET_OK);
}

/* A watchdog that waits for a minute does not interrupt a rank that computes for a while; a poll
 * then serves. */
static _Atomic int served;
static void on_served(gasnet_token_t token) {
  (void)token;
  ++served;
}
JOB(watchdog_waits_as_long_as_it_is_told, "PA-051", kLocal, 0, "") {
  gasnet_handlerentry_t table[] = {{200, (void (*)())on_served}};
  setenv("GASNET_DISPATCH", "watchdog", 1);
  setenv("GASNET_WATCHDOG_US", "60000000", 1);
  start_job(table, 1, kSegmentBytes);
  barrier();
  if (me == 0) {
    while (!is_marked("computes")) usleep(200);
    EXPECT_EQ(gasnet_AMRequestShort0(1, 200), GASNET_OK);
    leave_mark("has_sent");
  } else if (me == 1) {
    leave_mark("computes");
    while (!is_marked("has_sent")) usleep(200);
    for (int i = 0; i < 500; ++i)
      usleep(200); /* ten times what an interrupt takes on a busy machine */
    EXPECT_EQ(served, 0);
    GASNET_BLOCKUNTIL(served == 1);
  }
  barrier();
}

/* Everything that is legal between init and attach, and attach as a barrier. */
JOB(between_init_and_attach, "C1-051 C1-055 C1-056 C1-087", kNetwork, 0,
    "rank 0 can speak|rank 1 can speak") {
  EXPECT_EQ(gasnet_init(&program_argc, &program_argv), GASNET_OK);
  me = gasnet_mynode();
  EXPECT_EQ(gasnet_nodes(), 2);
  EXPECT(gasnet_getMaxLocalSegmentSize() >= gasnet_getMaxGlobalSegmentSize());
  EXPECT(gasnet_getMaxGlobalSegmentSize() >= GASNET_PAGESIZE);
  EXPECT(gasnet_getenv("CONFORM_WORD") != NULL);
  printf("rank %u can speak\n", (unsigned)me);
  if (me == 1) {
    usleep(100000);
    leave_mark("rank_1_attaches");
  }
  EXPECT_EQ(gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0), GASNET_OK);
  EXPECT(is_marked("rank_1_attaches"));
}

/* An error that a client may handle; one that checks its clients ends the program. */
JOB(requests_before_attach, "C1-023 C1-056", kLocal, BY_BUILD(0, 134),
    BY_BUILD("requested before gasnet_attach", "gasnet_AMRequestShort before gasnet_attach")) {
  static char byte;
  EXPECT_EQ(gasnet_init(&program_argc, &program_argv), GASNET_OK);
  EXPECT_EQ(gasnet_AMRequestShort0(0, 200), GASNET_ERR_NOT_INIT);
  EXPECT_EQ(gasnet_AMRequestMedium0(1, 200, &byte, 1), GASNET_ERR_NOT_INIT);
  EXPECT_EQ(gasnet_AMRequestLong0(0, 200, &byte, 1, &byte), GASNET_ERR_NOT_INIT);
  EXPECT_EQ(gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0), GASNET_OK);
}

JOB(exit_before_attach, "C1-056 C1-099", kLocal, 42, "") {
  EXPECT_EQ(gasnet_init(&program_argc, &program_argv), GASNET_OK);
  if (gasnet_mynode() == 1) gasnet_exit(42);
  gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0);
  gasnet_exit(3);
}

/* The job's own arguments arrive. */
JOB(arguments_after_init, "C1-053", kLocal, 0, "") {
  EXPECT_EQ(gasnet_init(&program_argc, &program_argv), GASNET_OK);
  EXPECT_EQ(program_argc, 3);
  EXPECT(strcmp(program_argv[1], "--job") == 0);
  EXPECT(strcmp(program_argv[2], "job.arguments_after_init") == 0);
  EXPECT(program_argv[3] == NULL);
  EXPECT_EQ(gasnet_attach(NULL, 0, 0, 0), GASNET_OK);
}

JOB(init_without_arguments, "C1-053 C1-075", kLocal, 0, "") {
  EXPECT_EQ(gasnet_init(NULL, NULL), GASNET_OK);
  EXPECT_EQ(gasnet_attach(NULL, 0, 0, 0), GASNET_OK);
}

/* Text that was printed but not flushed, to both streams, by every node. */
JOB(streams_of_all_nodes_arrive, "C1-049 C1-100", kLocal, 7,
    "out of rank 0|out of rank 1|err of rank 0|err of rank 1|unfinished 0|unfinished 1") {
  start_job(NULL, 0, 4096);
  printf("out of rank %u\n", (unsigned)me);
  fprintf(stderr, "err of rank %u\n", (unsigned)me);
  printf("unfinished %u", (unsigned)me);
  barrier();
  gasnet_exit(7);
}
