/* silent_gets: rank 0 spreads gets and atomics over all ranks, of which all but one are silent, and starts more than the windows to
 * those hold. None of it holds rank 0 up: between them it puts to the attentive rank, and gets from it, and is through before a
 * silent rank comes back. Then the silent ranks come back, and each get brings its bytes, and each atomic counts once.
 *
 * Ends with code 1 if rank 0 was held up or something is wrong, and with 2 if nothing was shown: the gets did not wait. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench/silence.h"
#include "gasnet_ratomic.h"
#include "gasnetex.h"
#include "tests/support/byte_pattern.h"

enum {
  kAsksMax = 1500,   /* for each silent rank; a window has 256 frames */
  kAsksOfAll = 2100, /* a lane holds some 4,000 operations, 3,000 of them for what waits */
  kBytes = 64,
  kCounterAt = kAsksMax * kBytes,
  kWordAt = kCounterAt + 8,
  kSegmentBytes = 1 << 20
};

static gex_TM_t team;
static gex_AD_t domain;
static gasnet_seginfo_t segments[kRanksMax];
static unsigned char fetched[kAsksOfAll * kBytes];
static uint64_t counts_before[kAsksOfAll];
static gex_Event_t events[kAsksOfAll];
static gasnet_handle_t handles[kAsksOfAll];

static void *word_of(gasnet_node_t rank, size_t at) { return (char *)segments[rank].addr + at; }
static int asks_of_each(void) {
  const int share = kAsksOfAll / (int)(ranks - 2);
  return share < kAsksMax ? share : kAsksMax;
}
static int kind_of(int ask) { return ask % 4; }

/* One of each four is an atomic; gets are those of both interfaces. */
static void start_ask(gasnet_node_t rank, int ask, size_t slot) {
  void *from = word_of(rank, (size_t)ask * kBytes);
  handles[slot] = GASNET_INVALID_HANDLE;
  events[slot] = GEX_EVENT_INVALID;
  if (kind_of(ask) == 0)
    events[slot] = gex_AD_OpNB_U64(domain, &counts_before[slot], rank, word_of(rank, kCounterAt), GEX_OP_FADD, 1, 0, 0);
  else if (kind_of(ask) == 1)
    events[slot] = gex_RMA_GetNB(team, &fetched[slot * kBytes], rank, from, kBytes, 0);
  else
    handles[slot] = gasnet_get_nb_bulk(&fetched[slot * kBytes], rank, from, kBytes);
}

/* A get that starts after the last frame was sent has a frame of its own. */
static void use_attentive(uint64_t number) {
  uint64_t back = ~number;
  gasnet_put(attentive, word_of(attentive, kWordAt), &number, sizeof number);
  gasnet_get(&back, attentive, word_of(attentive, kWordAt), sizeof back);
  if (back != number) fail("a put to the attentive rank is not there", 1);
}

static void spread_asks(void) {
  size_t slot = 0;
  for (int ask = 0; ask < asks_of_each(); ++ask) {
    for (gasnet_node_t rank = 0; rank < ranks; ++rank)
      if (is_between(rank)) start_ask(rank, ask, slot++);
    if (!all_are_silent()) fail("gets from silent ranks held up their caller until one came back", 1);
    use_attentive((uint64_t)ask);
    if (!all_are_silent()) fail("a put or get finished only after a silent rank had come back", 1);
  }
}

/* Returns how many had ended already. */
static int ended_asks(void) {
  int ended = 0;
  for (size_t slot = 0; slot < (size_t)asks_of_each() * (ranks - 2); ++slot) {
    if (kind_of((int)(slot / (ranks - 2))) < 2)
      ended += gex_Event_Test(events[slot]) == GASNET_OK;
    else
      ended += gasnet_try_syncnb(handles[slot]) == GASNET_OK;
  }
  return ended;
}

static int compare(const void *a, const void *b) {
  const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return left < right ? -1 : left > right;
}

/* All have ended. A silent rank's counter had each value once. */
static void check_asks(void) {
  const size_t between = ranks - 2;
  static uint64_t values[kAsksOfAll];
  for (size_t which = 0; which < between; ++which) {
    size_t count = 0;
    for (size_t ask = 0; ask < (size_t)asks_of_each(); ++ask) {
      const size_t slot = ask * between + which;
      if (kind_of((int)ask) == 0)
        values[count++] = counts_before[slot];
      else if (!holds_pattern(&fetched[slot * kBytes], kBytes, (unsigned)(1000 * (which + 1) + ask)))
        fail("a get brought wrong bytes", 1);
    }
    qsort(values, count, sizeof values[0], compare);
    for (size_t i = 0; i < count; ++i)
      if (values[i] != i) fail("an atomic was lost or came twice", 1);
  }
}

static void ask(void) {
  while (!all_are_silent()) gasnet_AMPoll(); /* the barrier may need this rank until all have left it */
  spread_asks();
  if (ended_asks() != 0) fail("gets from silent ranks ended: this showed nothing", 2);
  write_now(&board->is_released, 1);
  gex_Event_WaitAll(events, sizeof events / sizeof *events, 0);
  gasnet_wait_syncnb_all(handles, sizeof handles / sizeof *handles);
  check_asks();
  printf("%d gets and atomics waited for %u silent ranks\n", asks_of_each() * (int)(ranks - 2), (unsigned)ranks - 2);
  fflush(stdout);
  write_now(&board->done, 1);
}

static void play(void) {
  if (me == 0)
    ask();
  else if (is_between(me))
    be_silent();
  else
    while (!read_now(&board->done)) gasnet_AMPoll();
}

int main(int argc, char **argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  if (gasnet_init(&argc, &argv) != GASNET_OK) return 1;
  if (gasnet_attach(NULL, 0, kSegmentBytes, 0) != GASNET_OK) gasnet_exit(1);
  gasnet_QueryGexObjects(&client, &endpoint, &team, NULL);
  look_around("silent_gets");
  if (ranks < 3 || ranks > kRanksMax) fail("this takes 3 to 64 ranks", 2);
  gasnet_getSegmentInfo(segments, (int)ranks);
  gex_AD_Create(&domain, team, GEX_DT_U64, GEX_OP_FADD, 0);
  for (int i = 0; i < asks_of_each(); ++i)
    fill_pattern(word_of(me, (size_t)i * kBytes), kBytes, 1000 * (unsigned)me + (unsigned)i);
  memset(word_of(me, kCounterAt), 0, 8);
  share_board();
  barrier();
  play();
  barrier();
  gex_AD_Destroy(domain);
  gasnet_exit(0);
}
