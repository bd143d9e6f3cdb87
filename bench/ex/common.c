#include "common.h"

#include <getopt.h>
#include <gasnet_coll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

gex_TM_t team;
gex_Rank_t me, ranks;
double seconds = 0.2;

static const char *test_name;
static void *own_segment;
static volatile int is_over;
static gex_AM_Index_t over_index;

static void on_over(gex_Token_t token) {
  (void)token;
  is_over = 1;
}

double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void read_options(int argc, char **argv) {
  static const struct option options[] = {{"seconds", required_argument, NULL, 's'}, {NULL, 0, NULL, 0}};
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    if (option == 's') seconds = atof(optarg);
    if (option != 's' || !(seconds > 0)) {
      if (me == 0) fprintf(stderr, "%s [--seconds S]: S above 0, of each measurement\n", test_name);
      gasnet_exit(2);
    }
  }
}

static void report_ranks(void) {
  char note[100];
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  snprintf(note, sizeof note, "%u ranks on %ld processors%s", (unsigned)ranks, processors, (long)ranks > processors ? ": they take turns" : "");
  row_without_value("ranks", ranks, note);
}

void begin(const char *test, int argc, char **argv, gex_AM_Entry_t *table, size_t entries, size_t segment_bytes) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_Segment_t segment;
  gex_AM_Entry_t over = {0, (gex_AM_Fn_t)on_over, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "over"};
  test_name = test;
  if (gex_Client_Init(&client, &endpoint, &team, test, &argc, &argv, 0) != GASNET_OK) exit(1);
  me = gex_TM_QueryRank(team);
  ranks = gex_TM_QuerySize(team);
  read_options(argc, argv);
  if (ranks < 2) {
    fprintf(stderr, "%s wants two ranks at least\n", test);
    gasnet_exit(2);
  }
  expect(gex_EP_RegisterHandlers(endpoint, &over, 1) == GASNET_OK, "a handler is not registered");
  expect(entries == 0 || gex_EP_RegisterHandlers(endpoint, table, entries) == GASNET_OK, "handlers are not registered");
  over_index = over.gex_index;
  expect(gex_Segment_Attach(&segment, team, segment_bytes) == GASNET_OK, "there is no segment");
  own_segment = segment == GEX_SEGMENT_INVALID ? calloc(1, segment_bytes) : gex_Segment_QueryAddr(segment);
  memset(own_segment, 0, segment_bytes);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  if (me == 0) report_ranks();
}

void *segment_of(gex_Rank_t rank) {
  uint64_t there = (uint64_t)(uintptr_t)own_segment;
  gex_Event_Wait(gex_Coll_BroadcastNB(team, rank, &there, &there, sizeof there, 0));
  return (void *)(uintptr_t)there;
}

void end(void) {
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(0);
}

double seconds_each(void (*work)(uint64_t count)) {
  for (uint64_t count = 64;;) {
    const double start = now_s();
    work(count);
    const double spent = now_s() - start;
    if (spent >= seconds) return spent / (double)count;
    count = spent < seconds / 4 ? 2 * count : (uint64_t)((double)count * 1.2 * seconds / spent) + 1;
  }
}

void row(const char *operation, size_t bytes, const char *unit, double value) {
  printf("{\"test\": \"%s\", \"operation\": \"%s\", \"bytes\": %zu, \"unit\": \"%s\", \"value\": %.6g}\n", test_name, operation, bytes, unit, value);
  fflush(stdout);
}
void row_without_value(const char *operation, size_t bytes, const char *note) {
  printf("{\"test\": \"%s\", \"operation\": \"%s\", \"bytes\": %zu, \"note\": \"%s\"}\n", test_name, operation, bytes, note);
  fflush(stdout);
}

void expect(int is_so, const char *sentence) {
  if (is_so) return;
  fprintf(stderr, "%s, rank %u: %s\n", test_name, (unsigned)me, sentence);
  gasnet_exit(1);
}

static void tell_all_over(void) {
  for (gex_Rank_t rank = 0; rank < ranks; ++rank) {
    if (rank != me) gex_AM_RequestShort0(team, rank, over_index, 0);
  }
}

void measure_alone(void (*measure_all)(void)) {
  if (me == 0) {
    measure_all();
    tell_all_over();
  } else {
    GASNET_BLOCKUNTIL(is_over);
  }
  end();
}
