/* gasnet_attach (2.1.2): its arguments, segments, handler tables. Each in a job of its own. */
#include <sys/mman.h>

#include "gasnet1.h"

JOB(arguments_of_attach_are_checked, "C1-023 C1-076", kLocal, 0, "") {
  gasnet_handlerentry_t reserved = {127, (void (*)())barrier};
  gasnet_handlerentry_t twice[2] = {{200, (void (*)())barrier}, {200, (void (*)())barrier}};
  gasnet_handlerentry_t many[129];
  gasnet_seginfo_t info;
  for (int i = 0; i < 129; ++i) many[i] = (gasnet_handlerentry_t){0, (void (*)())barrier};
  EXPECT_EQ(gasnet_init(&program_argc, &program_argv), GASNET_OK);
  EXPECT_EQ(gasnet_getSegmentInfo(&info, 1), GASNET_ERR_NOT_INIT);
  EXPECT_EQ(gasnet_attach(NULL, 0, GASNET_PAGESIZE + 1, 0), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gasnet_attach(NULL, 3, GASNET_PAGESIZE, 0), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gasnet_attach(NULL, -1, GASNET_PAGESIZE, 0), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gasnet_attach(&reserved, 1, GASNET_PAGESIZE, 0), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gasnet_attach(twice, 2, GASNET_PAGESIZE, 0), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gasnet_attach(many, 129, GASNET_PAGESIZE, 0), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gasnet_attach(NULL, 0, GASNET_PAGESIZE, 0), GASNET_OK);
}

JOB(larger_segment_than_possible_is_cut, "C1-064 C1-095", kLocal, 0, "") {
  setenv("GASNET_MAX_SEGSIZE", "1048576", 1);
  start_job(NULL, 0, 16 << 20);
  EXPECT(gasnet_getMaxLocalSegmentSize() <= 1048576);
  for (gasnet_node_t k = 0; k < nodes; ++k) EXPECT(segments[k].size <= 1048576);
}

/* Not a page of it is in memory before somebody uses it, but where a device keeps it in place. */
JOB(segment_is_left_untouched, "C1-084 C1-089", kNetwork, 0, "") {
  enum { kPages = 4096 };
  static unsigned char resident[kPages];
  int touched = 0;
  start_job(NULL, 0, kPages * 4096);
  if (device_pins_whole_segments()) NOT_HERE("a FAST segment is pinned whole over this driver");
  EXPECT_EQ(segments[me].size, kPages * 4096);
  barrier();
  EXPECT_EQ(mincore(segments[me].addr, segments[me].size, resident), 0);
  for (int i = 0; i < kPages; ++i) touched += resident[i] & 1;
  EXPECT_EQ(touched, 0);
}

/* ---- a node without a segment -------------------------------------------------------------------
 */

static _Atomic int pings, longs;
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

JOB(put_to_a_node_without_segment, "C1-082 C1-207", kNetwork, 134,
    BY_BUILD("outside the segment", "not in the segment")) {
  char byte = 1;
  EXPECT_EQ(gasnet_init(&program_argc, &program_argv), GASNET_OK);
  me = gasnet_mynode();
  EXPECT_EQ(gasnet_attach(NULL, 0, me == 1 ? 0 : 4096, 0), GASNET_OK);
  if (me == 0) gasnet_put(1, &byte, &byte, 1);
}

/* ---- handler tables -------------------------------------------------------------------------- */

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
COUNTED(255)
COUNTED(0)

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
