/* A client that transposes a large matrix between its ranks with several threads each, and looks at
 * every byte: Mediums and Longs of mixed sizes, requests and replies, and puts of strided rows go
 * both ways at once, and threads outnumber the cores. It uses the API of GASNet-EX alone, so that
 * it can be built with other conduits (GX-055, GX-080, GX-131; C1-013, C1-154).
 *
 * transpose [KIB [THREADS [ROUNDS [WAY]]]]   KIB of the matrix, THREADS of each rank (one for each
 * core), WAY: "all" of them (the default), or "elements": strided puts of one element a piece.
 */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "tiles.h"

static size_t matrix_kib = 4096;
static unsigned rounds = 5;
static pthread_barrier_t threads_meet;

/* All threads of all ranks meet here; those that wait for the first one do not poll. */
static void meet(int thread) {
  pthread_barrier_wait(&threads_meet);
  if (thread == 0) gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  pthread_barrier_wait(&threads_meet);
}

static void fill_rows(int thread, unsigned round) {
  for (size_t row = (size_t)thread; row < rows_of(me); row += (size_t)threads) {
    for (size_t column = 0; column < side; ++column) {
      *source_at(row, column) = element(begin_of(me) + row, column, round);
      *goal_at(me, row, column) = ~*source_at(row, column);
    }
  }
}
static void check_rows(int thread, unsigned round) {
  for (size_t row = (size_t)thread; row < rows_of(me); row += (size_t)threads) {
    for (size_t column = 0; column < side; ++column) {
      const uint64_t got = *goal_at(me, row, column);
      const uint64_t want = element(column, begin_of(me) + row, round);
      if (got != want)
        fail_at(__FILE__, __LINE__, "round %u: row %zu, column %zu is %016llx, not %016llx", round,
                begin_of(me) + row, column, (unsigned long long)got, (unsigned long long)want);
    }
  }
}

/* A rank sends three of four bands of its rows, and the others ask for the fourth. */
static int is_asked_for(size_t band) { return band % 4 == 3 && !only_elements; }
static void move_rows(int thread) {
  const gex_Rank_t first = me + (gex_Rank_t)thread;
  for (gex_Rank_t i = 0; i < ranks; ++i) {
    const gex_Rank_t peer = (first + i) % ranks;
    for (size_t band = (size_t)thread; band * kBand < rows_of(me); band += (size_t)threads)
      if (!is_asked_for(band))
        send_band(thread, peer, band * kBand, at_most(rows_of(me), (band + 1) * kBand));
    for (size_t row = (size_t)thread; row < rows_of(peer); row += (size_t)threads)
      if (is_asked_for(row / kBand)) ask_for_row(thread, peer, row);
  }
  await_all(&movers[thread]);
}

static void *work(void *argument) {
  const int thread = (int)(intptr_t)argument;
  for (unsigned round = 0; round < rounds; ++round) {
    fill_rows(thread, round);
    meet(thread);
    move_rows(thread);
    meet(thread);
    check_rows(thread, round);
    meet(thread);
  }
  return NULL;
}

static void open_movers(void) {
  for (int thread = 0; thread < threads; ++thread) {
    mover_t *mover = &movers[thread];
    mover->random = 88172645463325252u + me * 1000003u + (unsigned)thread;
    for (int slot = 0; slot < kSlots; ++slot) {
      mover->slots[slot].event = GEX_EVENT_INVALID;
      mover->slots[slot].tile = (uint64_t *)malloc(kSlotBytes);
      EXPECT(mover->slots[slot].tile != NULL);
    }
  }
}

/* Two ranks of one host have twice as many threads as it has cores. */
static int default_threads(void) {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return cores < 4 ? 4 : cores < kThreadsMax ? (int)cores : kThreadsMax;
}

static void start(int *argc, char ***argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_Segment_t segment;
  const gex_Flags_t request = GEX_FLAG_AM_REQUEST, reply = GEX_FLAG_AM_REPLY;
  gex_AM_Entry_t table[] = {
      {kOnRows, (gex_AM_Fn_t)on_rows, request | GEX_FLAG_AM_MEDLONG, 5, NULL, "on_rows"},
      {kOnDone, (gex_AM_Fn_t)on_done, reply | GEX_FLAG_AM_SHORT, 2, NULL, "on_done"},
      {kOnAsk, (gex_AM_Fn_t)on_ask, request | GEX_FLAG_AM_SHORT, 5, NULL, "on_ask"},
      {kOnColumn, (gex_AM_Fn_t)on_column, reply | GEX_FLAG_AM_MEDLONG, 4, NULL, "on_column"}};
  if (gex_Client_Init(&client, &endpoint, &team, "TRANSPOSE", argc, argv, 0) != GASNET_OK) exit(1);
  me = gex_TM_QueryRank(team);
  ranks = gex_TM_QuerySize(team);
  if (*argc > 1) matrix_kib = (size_t)atol((*argv)[1]);
  threads = *argc > 2 ? atoi((*argv)[2]) : default_threads();
  if (*argc > 3) rounds = (unsigned)atoi((*argv)[3]);
  if (*argc > 4) only_elements = strcmp((*argv)[4], "elements") == 0;
  EXPECT(ranks <= kRanksMax && threads > 0 && threads <= kThreadsMax);
  while ((side + 1) * (side + 1) <= matrix_kib * 1024 / 8) ++side;
  const size_t bytes = (segment_bytes() + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE * GASNET_PAGESIZE;
  EXPECT_EQ(gex_Segment_Attach(&segment, team, bytes), GASNET_OK);
  EXPECT_EQ(gex_EP_RegisterHandlers(endpoint, table, 4), GASNET_OK);
  for (gex_Rank_t rank = 0; rank < ranks; ++rank) {
    void *address = NULL;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, rank, &address, NULL, NULL, 0));
    base[rank] = (unsigned char *)address;
  }
  open_movers();
}

int main(int argc, char **argv) {
  start(&argc, &argv);
  EXPECT_EQ(pthread_barrier_init(&threads_meet, NULL, (unsigned)threads), 0);
  struct timespec begin, end;
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  clock_gettime(CLOCK_MONOTONIC, &begin);
  pthread_t others[kThreadsMax];
  for (int t = 1; t < threads; ++t)
    EXPECT_EQ(pthread_create(&others[t], NULL, work, (void *)(intptr_t)t), 0);
  work(NULL);
  for (int t = 1; t < threads; ++t) EXPECT_EQ(pthread_join(others[t], NULL), 0);
  clock_gettime(CLOCK_MONOTONIC, &end);
  const double seconds =
      (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
  if (me == 0)
    printf("transpose: ok with %u ranks of %d threads, %u rounds of %zu x %zu, %.2f s\n",
           (unsigned)ranks, threads, rounds, side, side, seconds);
  fflush(stdout);
  gasnet_exit(0);
}
