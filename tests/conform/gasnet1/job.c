/* The job: start, environment, end (2.1, 2.2). */
#include <sys/mman.h>
#include <unistd.h>

#include "../cases.h"

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

/* Nobody has touched the last page of a part before: first by a put, first by a load. */
CASE(untouched_pages_are_reachable, "C1-064 C1-067") {
  const gasnet_node_t to = (me + 1) % nodes;
  const size_t last = part_bytes() - 2 * 4096;
  unsigned char local[100], back[100];
  fill(local, sizeof local, 5);
  gasnet_put(to, part(to) + last, local, sizeof local);
  gasnet_get(back, to, part(to) + last, sizeof back);
  EXPECT(holds(back, sizeof back, 5));
  EXPECT_EQ(*(volatile unsigned char *)(part(me) + last + 4096), 0);
}

/* ---- what needs a job of its own
 * ------------------------------------------------------------------ */

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

JOB(exit_before_attach, "C1-056 C1-099", kLocal, 42, "") {
  EXPECT_EQ(gasnet_init(&program_argc, &program_argv), GASNET_OK);
  if (gasnet_mynode() == 1) gasnet_exit(42);
  gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0);
  gasnet_exit(3);
}

/* The job's own arguments arrive; neither argument is needed. */
JOB(arguments_after_init, "C1-053", kLocal, 0, "") {
  EXPECT_EQ(gasnet_init(&program_argc, &program_argv), GASNET_OK);
  EXPECT_EQ(program_argc, 3);
  EXPECT(strcmp(program_argv[1], "--job") == 0);
  EXPECT(strcmp(program_argv[2], "job.arguments_after_init") == 0);
  EXPECT(program_argv[3] == NULL);
  EXPECT_EQ(gasnet_attach(NULL, 0, 0, 0), GASNET_OK);
}

/* What was printed but not flushed, to both streams, by every node. */
JOB(streams_of_all_nodes_arrive, "C1-049 C1-100", kLocal, 7,
    "out of rank 0|out of rank 1|err of rank 0|err of rank 1|unfinished 0|unfinished 1") {
  start_job(NULL, 0, 4096);
  printf("out of rank %u\n", (unsigned)me);
  fprintf(stderr, "err of rank %u\n", (unsigned)me);
  printf("unfinished %u", (unsigned)me);
  barrier();
  gasnet_exit(7);
}

JOB(larger_segment_than_possible_is_cut, "C1-064 C1-095", kLocal, 0, "") {
  setenv("GASNET_MAX_SEGSIZE", "1048576", 1);
  start_job(NULL, 0, 16 << 20);
  EXPECT(gasnet_getMaxLocalSegmentSize() <= 1048576);
  for (gasnet_node_t k = 0; k < nodes; ++k) EXPECT(segments[k].size <= 1048576);
}

/* Not a page of it is in memory before somebody uses it; where that is all the library knows of. */
JOB(segment_is_left_untouched, "C1-084 C1-089", kNetwork, 0, "") {
  enum { kPages = 4096 };
  static unsigned char resident[kPages];
  int touched = 0;
  start_job(NULL, 0, kPages * 4096);
  EXPECT_EQ(segments[me].size, kPages * 4096);
  barrier();
  EXPECT_EQ(mincore(segments[me].addr, segments[me].size, resident), 0);
  for (int i = 0; i < kPages; ++i) touched += resident[i] & 1;
  EXPECT_EQ(touched, 0);
}

/* ---- a node without a segment -------------------------------------------------------------------
 */

static volatile int pings, longs;
static void on_ping(gasnet_token_t token) { gasnet_AMReplyShort0(token, 201); }
static void on_pong(gasnet_token_t token) {
  (void)token;
  ++pings;
}
static void on_long(gasnet_token_t token, void *buf, size_t nbytes) {
  (void)token, (void)buf;
  EXPECT(nbytes == 0 || buf == segments[me].addr);
  ++longs;
}
static gasnet_handlerentry_t ping_table[] = {
    {200, (void (*)())on_ping}, {201, (void (*)())on_pong}, {202, (void (*)())on_long}};

JOB(node_without_segment, "C1-082 C1-083", kNetwork, 0, "") {
  unsigned char local[32];
  EXPECT_EQ(gasnet_init(&program_argc, &program_argv), GASNET_OK);
  me = gasnet_mynode();
  nodes = gasnet_nodes();
  EXPECT_EQ(gasnet_attach(ping_table, 3, me == 1 ? 0 : 4 * 4096, 0), GASNET_OK);
  EXPECT_EQ(gasnet_getSegmentInfo(segments, 2), GASNET_OK);
  EXPECT_EQ(segments[1].size, 0);
  EXPECT_EQ(segments[0].size, 4 * 4096);
  barrier();
  gasnet_AMRequestShort0(1 - me, 200);
  GASNET_BLOCKUNTIL(pings == 1);
  gasnet_put(1, segments[1].addr, local, 0);
  gasnet_get(local, 1, segments[1].addr, 0);
  gasnet_AMRequestLong0(1, 202, NULL, 0, NULL);
  if (me == 1) {
    GASNET_BLOCKUNTIL(longs == 2);
    fill(local, sizeof local, 9);
    gasnet_put(0, segments[0].addr, local, sizeof local);
    gasnet_AMRequestLong0(0, 202, local, sizeof local, segments[0].addr);
  } else {
    GASNET_BLOCKUNTIL(longs == 1);
    EXPECT(holds(segments[0].addr, sizeof local, 9));
  }
}

JOB(put_to_a_node_without_segment, "C1-082 C1-207", kNetwork, 134, "outside the segment") {
  char byte = 1;
  EXPECT_EQ(gasnet_init(&program_argc, &program_argv), GASNET_OK);
  me = gasnet_mynode();
  EXPECT_EQ(gasnet_attach(NULL, 0, me == 1 ? 0 : 4096, 0), GASNET_OK);
  if (me == 0) gasnet_put(1, &byte, &byte, 1);
}

/* ---- handler tables
 * ------------------------------------------------------------------------------ */

enum { kTableMax = 128 };
static int first_seen, second_seen;
static void on_first(gasnet_token_t token) { (void)token, ++first_seen; }
static void on_second(gasnet_token_t token) { (void)token, ++second_seen; }

/* Each node has its own table: the target's decides. */
JOB(tables_may_differ, "C1-074 C1-078", kNetwork, 0, "") {
  gasnet_handlerentry_t table[2];
  EXPECT_EQ(gasnet_init(&program_argc, &program_argv), GASNET_OK);
  me = gasnet_mynode();
  table[0].index = 200;
  table[0].fnptr = me == 0 ? (void (*)())on_first : (void (*)())on_second;
  EXPECT_EQ(gasnet_attach(table, 1, 0, 0), GASNET_OK);
  barrier();
  gasnet_AMRequestShort0(1 - me, 200);
  gasnet_AMRequestShort0(me, 200);
  if (me == 0)
    GASNET_BLOCKUNTIL(first_seen == 2);
  else
    GASNET_BLOCKUNTIL(second_seen == 2);
  EXPECT_EQ(first_seen + second_seen, 2);
}

static int calls_of[256];
#define COUNTED(n) \
  static void on_##n(gasnet_token_t token) { (void)token, ++calls_of[n]; }
COUNTED(128)
COUNTED(255) COUNTED(0)

    /* All 128 of a client's indices, most of them for the library to choose, and no two alike. */
    JOB(full_table_with_free_indices, "C1-032 C1-076 C1-077 C1-301", kLocal, 0, "") {
  gasnet_handlerentry_t table[kTableMax], theirs[kTableMax];
  int taken[256] = {0};
  EXPECT_EQ(gasnet_init(&program_argc, &program_argv), GASNET_OK);
  me = gasnet_mynode();
  for (int i = 0; i < kTableMax; ++i) {
    table[i].index = 0;
    table[i].fnptr = (void (*)())on_0;
  }
  table[3].index = 255;
  table[3].fnptr = (void (*)())on_255;
  table[90].index = 128;
  table[90].fnptr = (void (*)())on_128;
  EXPECT_EQ(gasnet_attach(table, kTableMax, 65536, 0), GASNET_OK);
  EXPECT_EQ(gasnet_getSegmentInfo(segments, 2), GASNET_OK);
  for (int i = 0; i < kTableMax; ++i) {
    EXPECT(table[i].index >= 128);
    EXPECT_EQ(taken[table[i].index]++, 0);
  }
  EXPECT_EQ(table[3].index, 255);
  EXPECT_EQ(table[90].index, 128);
  /* The same table everywhere gets the same indices everywhere. */
  memcpy(segments[me].addr, table, sizeof table);
  barrier();
  gasnet_get(theirs, 1 - me, segments[1 - me].addr, sizeof theirs);
  for (int i = 0; i < kTableMax; ++i) EXPECT_EQ(theirs[i].index, table[i].index);
  for (int i = 128; i < 256; ++i) gasnet_AMRequestShort0(me, (gasnet_handler_t)i);
  GASNET_BLOCKUNTIL(calls_of[0] == kTableMax - 2 && calls_of[128] == 1 && calls_of[255] == 1);
}
