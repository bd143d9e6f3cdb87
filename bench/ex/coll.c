/* coll [--seconds S]: how long collectives over all ranks take, one after another, beside the half round trip of a Short active
 * message between ranks 0 and 1, measured before and after them. A barrier by messages takes at least ceil(log2 N) half round
 * trips: the row "of the half round trips" is how many times that long it takes. Roots go round, so that nobody is ahead for long. */
#include <gasnet_coll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

enum { kBytesMax = 1 << 20, kRanksMax = 1024 };

static gex_AM_Index_t ping_index;
static unsigned char *input, *output;
static void *segments[kRanksMax];
static volatile uint64_t pings;

static void on_ping(gex_Token_t token) {
  (void)token;
  ++pings;
}

/* `count` of them. */
typedef void (*Operation)(size_t bytes, uint64_t count);

static void ping_pong(size_t bytes, uint64_t count) {
  (void)bytes;
  static uint64_t awaited; /* not read from `pings`: one may have come before this is called */
  for (uint64_t i = 0; i < count && me < 2; ++i) {
    if (me == 0) gex_AM_RequestShort0(team, 1, ping_index, 0);
    ++awaited;
    GASNET_BLOCKUNTIL(pings == awaited);
    if (me == 1) gex_AM_RequestShort0(team, 0, ping_index, 0);
  }
}
static void barrier_of_gasnet_1(size_t bytes, uint64_t count) {
  (void)bytes;
  for (uint64_t i = 0; i < count; ++i) gasnet_barrier(0, GASNET_BARRIERFLAG_UNNAMED);
}
static void barrier(size_t bytes, uint64_t count) {
  (void)bytes;
  for (uint64_t i = 0; i < count; ++i) gex_Coll_BarrierBlocking(team, 0);
}
static void barrier_nb(size_t bytes, uint64_t count) {
  (void)bytes;
  for (uint64_t i = 0; i < count; ++i) gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}
static void broadcast(size_t bytes, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) gex_Event_Wait(gex_Coll_BroadcastNB(team, (gex_Rank_t)(i % ranks), output, input, bytes, 0));
}
static void reduce_to_one(size_t bytes, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i)
    gex_Event_Wait(gex_Coll_ReduceToOneNB(team, (gex_Rank_t)(i % ranks), output, input, GEX_DT_U64, 8, bytes / 8, GEX_OP_ADD, NULL, NULL, 0));
}
static void reduce_to_all(size_t bytes, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i)
    gex_Event_Wait(gex_Coll_ReduceToAllNB(team, output, input, GEX_DT_U64, 8, bytes / 8, GEX_OP_ADD, NULL, NULL, 0));
}

/* Seconds for each, between barriers. */
static double run_s(Operation operation, size_t bytes, uint64_t count) {
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  const double start = now_s();
  operation(bytes, count);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  return (now_s() - start) / (double)count;
}

/* Rank 0 says how many: until they take long enough. */
static double seconds_each_of_all(Operation operation, size_t bytes) {
  double each = 0;
  for (uint64_t count = 8, next = 8; next != 0; count = next) {
    each = run_s(operation, bytes, count);
    const double spent = each * (double)count;
    next = spent >= seconds ? 0 : spent < seconds / 4 ? 2 * count : (uint64_t)((double)count * 1.2 * seconds / spent) + 1;
    gex_Event_Wait(gex_Coll_BroadcastNB(team, 0, &next, &next, sizeof next, 0));
  }
  return each;
}

static double measure(const char *name, Operation operation, size_t bytes, int trips) {
  const double us = 1e6 * seconds_each_of_all(operation, bytes) / trips;
  if (me == 0) row(name, bytes, "us", us);
  return us;
}

static void measure_barriers(void) {
  int rounds = 0;
  while ((gex_Rank_t)1 << rounds < ranks) ++rounds;
  const double before = measure("half round trip of a Short AM", ping_pong, 0, 2);
  measure("gasnet_barrier", barrier_of_gasnet_1, 0, 1);
  const double us = measure("gex_Coll_BarrierBlocking", barrier, 0, 1);
  measure("gex_Coll_BarrierNB + Wait", barrier_nb, 0, 1);
  const double after = measure("half round trip of a Short AM, again", ping_pong, 0, 2);
  if (me == 0) row("gex_Coll_BarrierBlocking, of the half round trips", 0, "times", us / (rounds * (before + after) / 2));
}

/* Each rank's contribution, and what is made of them. */
static void fill(uint64_t *words, size_t bytes, uint64_t from) {
  for (size_t i = 0; i < bytes / 8; ++i) words[i] = from + i;
}
static void expect_words(size_t bytes, uint64_t from, uint64_t step, const char *sentence) {
  uint64_t word;
  for (size_t i = 0; i < bytes / 8; ++i) {
    memcpy(&word, output + 8 * i, 8);
    expect(word == from + step * i, sentence);
  }
}
static void check(size_t bytes) {
  uint64_t *words = (uint64_t *)(void *)input, sum = 0;
  for (gex_Rank_t rank = 0; rank < ranks; ++rank) sum += 1000 * rank;
  fill(words, bytes, 1000 * me);
  for (gex_Rank_t root = 0; root < ranks; ++root) {
    gex_Event_Wait(gex_Coll_BroadcastNB(team, root, output, input, bytes, 0));
    expect_words(bytes, 1000 * root, 1, "a broadcast brought something else");
    memset(output, 0, bytes);
    gex_Event_Wait(gex_Coll_ReduceToOneNB(team, root, output, input, GEX_DT_U64, 8, bytes / 8, GEX_OP_ADD, NULL, NULL, 0));
    if (me == root) expect_words(bytes, sum, ranks, "a reduction to one is no sum");
  }
  gex_Event_Wait(gex_Coll_ReduceToAllNB(team, output, input, GEX_DT_U64, 8, bytes / 8, GEX_OP_ADD, NULL, NULL, 0));
  expect_words(bytes, sum, ranks, "a reduction to all is no sum");
}
/* Nobody leaves one before all have come: each says its turn to all, by puts that are done, and finds that all have. */
static void check_barrier(Operation a_barrier, uint64_t turn) {
  for (gex_Rank_t rank = 0; rank < ranks; ++rank) {
    gex_RMA_PutBlocking(team, rank, (uint64_t *)segments[rank] + me, &turn, sizeof turn, 0);
  }
  a_barrier(0, 1);
  for (gex_Rank_t rank = 0; rank < ranks; ++rank) {
    uint64_t said = 0;
    gex_RMA_GetBlocking(team, &said, me, (uint64_t *)segments[me] + rank, sizeof said, 0);
    expect(said >= turn, "a barrier let a rank go before all had come");
  }
}
static void check_barriers(void) {
  expect(ranks <= kRanksMax, "too many ranks");
  for (gex_Rank_t rank = 0; rank < ranks; ++rank) segments[rank] = segment_of(rank);
  for (uint64_t turn = 1; turn <= 50; ++turn) check_barrier(turn % 2 ? barrier : barrier_nb, turn);
}

int main(int argc, char **argv) {
  gex_AM_Entry_t table[] = {{0, (gex_AM_Fn_t)on_ping, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, NULL, "ping"}};
  begin("coll", argc, argv, table, 1, 1 << 16);
  ping_index = table[0].gex_index;
  input = calloc(1, kBytesMax);
  output = calloc(1, kBytesMax);
  check_barriers();
  measure_barriers();
  static const size_t sizes[] = {8, 1024, 8192, 65536, kBytesMax};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    check(sizes[i]);
    measure("broadcast", broadcast, sizes[i], 1);
    measure("reduce to one", reduce_to_one, sizes[i], 1);
    measure("reduce to all", reduce_to_all, sizes[i], 1);
  }
  end();
}
