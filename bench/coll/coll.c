/* coll [--seconds S] [--turns T]: how long collectives over all ranks take, one after another, beside a message's half
 * round trip between ranks 0 and 1. Prints a table; medians of T turns of S seconds each:
 *
 *   GASNET_DRIVER=shm gasnetrun_pinwire -n 2 build/bench/coll
 *
 * A barrier by messages takes at least ceil(log2 N) half round trips. Roots go round, so that nobody is ahead for long. */
#include <gasnetex.h>
#include <gasnet_coll.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kTurnsMax = 99, kBytesMax = 1 << 20, kPing = 200 };

static gex_TM_t team;
static gex_Rank_t me, ranks;
static double seconds = 0.2;
static int turns = 5;
static unsigned char *input, *output;
static volatile unsigned pings;
static double half_round_trip_us;

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static void on_ping(gex_Token_t token) {
  (void)token;
  ++pings;
}

/* `count` of them. */
typedef void (*Operation)(size_t bytes, unsigned count);

static void ping_pong(size_t bytes, unsigned count) {
  (void)bytes;
  const unsigned before = pings;
  for (unsigned i = 1; i <= count && me < 2; ++i) {
    if (me == 0) gex_AM_RequestShort0(team, 1, kPing, 0);
    GASNET_BLOCKUNTIL(pings == before + i);
    if (me == 1) gex_AM_RequestShort0(team, 0, kPing, 0);
  }
}
static void barrier_of_gasnet_1(size_t bytes, unsigned count) {
  (void)bytes;
  for (unsigned i = 0; i < count; ++i) gasnet_barrier(0, GASNET_BARRIERFLAG_UNNAMED);
}
static void barrier(size_t bytes, unsigned count) {
  (void)bytes;
  for (unsigned i = 0; i < count; ++i) gex_Coll_BarrierBlocking(team, 0);
}
static void broadcast(size_t bytes, unsigned count) {
  for (unsigned i = 0; i < count; ++i) gex_Event_Wait(gex_Coll_BroadcastNB(team, i % ranks, output, input, bytes, 0));
}
static void reduce_to_one(size_t bytes, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    gex_Event_Wait(gex_Coll_ReduceToOneNB(team, i % ranks, output, input, GEX_DT_U64, 8, bytes / 8, GEX_OP_ADD, NULL, NULL, 0));
}
static void reduce_to_all(size_t bytes, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    gex_Event_Wait(gex_Coll_ReduceToAllNB(team, output, input, GEX_DT_U64, 8, bytes / 8, GEX_OP_ADD, NULL, NULL, 0));
}

static double run_us(Operation operation, size_t bytes, unsigned count) {
  gex_Coll_BarrierBlocking(team, 0);
  const double begin = now_us();
  operation(bytes, count);
  gex_Coll_BarrierBlocking(team, 0);
  return (now_us() - begin) / count;
}

/* How many take a turn's time; the same on all ranks. */
static unsigned calibrate(Operation operation, size_t bytes) {
  uint64_t count = 8;
  double us;
  while (us = run_us(operation, bytes, (unsigned)count), gex_Event_Wait(gex_Coll_BroadcastNB(team, 0, &us, &us, sizeof us, 0)),
         us * (double)count < 2e5 * seconds)
    count *= 2;
  count = (uint64_t)(1e6 * seconds / us) + 1;
  gex_Event_Wait(gex_Coll_BroadcastNB(team, 0, &count, &count, sizeof count, 0));
  return (unsigned)count;
}

static int compare(const void *a, const void *b) { return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b); }

static void measure(const char *name, Operation operation, size_t bytes, int trips) {
  double us[kTurnsMax];
  const unsigned count = calibrate(operation, bytes);
  for (int turn = 0; turn < turns; ++turn) us[turn] = run_us(operation, bytes, count) / trips;
  qsort(us, (size_t)turns, sizeof us[0], compare);
  const double median = us[turns / 2];
  if (half_round_trip_us == 0) half_round_trip_us = median;
  if (me != 0) return;
  printf("| %-20s | %7zu | %.3f (%.3f-%.3f) | %.2f |\n", name, bytes, median, us[0], us[turns - 1], median / half_round_trip_us);
  fflush(stdout);
}

static void read_options(int argc, char **argv) {
  static const struct option options[] = {{"seconds", required_argument, NULL, 's'}, {"turns", required_argument, NULL, 't'}, {NULL, 0, NULL, 0}};
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    if (option == 's') seconds = atof(optarg);
    if (option == 't') turns = atoi(optarg);
    if (option == '?' || !(seconds > 0) || turns < 1 || turns > kTurnsMax) {
      fprintf(stderr, "coll [--seconds S] [--turns T]: more than 0 seconds, 1 to %d turns\n", kTurnsMax);
      gasnet_exit(2);
    }
  }
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_AM_Entry_t ping = {kPing, (gex_AM_Fn_t)on_ping, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "ping"};
  if (gex_Client_Init(&client, &endpoint, &team, "COLL_BENCH", &argc, &argv, 0) != GASNET_OK) return 1;
  read_options(argc, argv);
  me = gex_TM_QueryRank(team);
  ranks = gex_TM_QuerySize(team);
  if (ranks < 2 || gex_EP_RegisterHandlers(endpoint, &ping, 1) != GASNET_OK) {
    fprintf(stderr, "coll: at least two ranks\n");
    gasnet_exit(2);
  }
  input = calloc(1, kBytesMax);
  output = calloc(1, kBytesMax);
  if (me == 0) printf("%u ranks\n\n| operation | bytes | us | half round trips |\n|---|---|---|---|\n", ranks);
  measure("half round trip", ping_pong, 0, 2);
  measure("gasnet_barrier", barrier_of_gasnet_1, 0, 1);
  measure("gex_Coll_Barrier", barrier, 0, 1);
  static const size_t sizes[] = {8, 1024, 8192, 65536, kBytesMax};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    measure("broadcast", broadcast, sizes[i], 1);
    measure("reduce to one", reduce_to_one, sizes[i], 1);
    measure("reduce to all", reduce_to_all, sizes[i], 1);
  }
  gex_Coll_BarrierBlocking(team, 0);
  gasnet_exit(0);
}
