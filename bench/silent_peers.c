/* silent_peers [--puts N]: what an 8-byte put to an attentive rank costs while other ranks are silent. Rank 0 puts, the last
 * rank waits inside GASNet, and all ranks between them are outside GASNet as if they computed. They sleep, because on few cores
 * a computation would take the cores from the two ranks that are measured. Rank 0 puts while nothing is under way to the silent
 * ranks, then while each of them owes it the acknowledgement of 3 MiB: the first that it ever sent them ("fresh"), and more after
 * they took as much many times ("open"). Prints a JSON object for each, and the ratios to the first. Ends with code 1 if a put
 * finished only after a silent rank had come back: it was blocked by that rank. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "gasnet.h"
#include "silence.h"

enum { kOver = 200, kPutsMax = 10000, kLargeBytes = 3 << 20, kSegmentBytes = 4 << 20 };

static gasnet_seginfo_t segments[kRanksMax];
static int put_count = 200;
static int phases_over;

static void on_over(gasnet_token_t token) {
  (void)token;
  ++phases_over;
}
static int compare(const void *a, const void *b) {
  const double left = *(const double *)a, right = *(const double *)b;
  return left < right ? -1 : left > right;
}
static double median_of_puts(const char *phase) {
  static double us[kPutsMax];
  uint64_t word = 5;
  for (int i = 0; i < put_count; ++i) {
    const double start = now_us();
    gasnet_put(attentive, segments[attentive].addr, &word, sizeof word);
    us[i] = now_us() - start;
    if (!all_are_silent()) fail("an 8-byte put to an attentive rank finished only after a silent rank had come back", 1);
  }
  qsort(us, (size_t)put_count, sizeof us[0], compare);
  printf("{\"what\": \"put_8\", \"phase\": \"%s\", \"silent_ranks\": %u, \"count\": %d, \"median_us\": %.3f, \"max_us\": %.3f}\n",
         phase, (unsigned)ranks - 2, put_count, us[put_count / 2], us[put_count - 1]);
  return us[put_count / 2];
}

static void start_large_puts(void) {
  for (gasnet_node_t rank = 0; rank < ranks; ++rank)
    if (is_between(rank)) gasnet_put_nbi_bulk(rank, segments[rank].addr, segments[0].addr, kLargeBytes);
}
/* While they listen. */
static void open_windows(void) {
  for (int i = 0; i < 8; ++i) start_large_puts();
  gasnet_wait_syncnbi_puts();
}

/* Microseconds for a put; known to rank 0 alone. */
static double measure(const char *phase, int has_large_puts) {
  double median_us = 0;
  const int before = phases_over;
  if (me == 0) write_now(&board->is_released, 0);
  barrier();
  if (is_between(me)) be_silent();
  if (me == attentive) GASNET_BLOCKUNTIL(phases_over != before);
  if (me == 0) {
    while (!all_are_silent()) gasnet_AMPoll(); /* the barrier may need this rank until all have left it */
    if (has_large_puts) start_large_puts();
    median_us = median_of_puts(phase);
    write_now(&board->is_released, 1);
    gasnet_wait_syncnbi_puts();
    gasnet_AMRequestShort0(attentive, kOver);
  }
  barrier();
  return median_us;
}

static void measure_all(void) {
  const double alone_us = measure("alone", 0), fresh_us = measure("fresh", 1);
  if (me == 0) open_windows();
  barrier();
  const double open_us = measure("open", 1);
  if (me != 0) return;
  printf("{\"what\": \"ratio\", \"phase\": \"fresh\", \"times\": %.3f}\n", fresh_us / alone_us);
  printf("{\"what\": \"ratio\", \"phase\": \"open\", \"times\": %.3f}\n", open_us / alone_us);
  fflush(stdout);
}

static void read_arguments(int argc, char **argv) {
  static const struct option options[] = {{"puts", required_argument, NULL, 'p'}, {NULL, 0, NULL, 0}};
  int option, is_bad = 0;
  while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
    if (option == 'p') put_count = atoi(optarg);
    is_bad = is_bad || option != 'p' || put_count < 1 || put_count > kPutsMax;
  }
  if (is_bad || optind != argc) fail("usage: silent_peers [--puts N], N from 1 to 10000", 2);
  if (ranks < 3 || ranks > kRanksMax) fail("this takes 3 to 64 ranks", 2);
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{kOver, (void (*)())on_over}};
  if (gasnet_init(&argc, &argv) != GASNET_OK) return 1;
  look_around("silent_peers");
  read_arguments(argc, argv);
  if (gasnet_attach(table, 1, kSegmentBytes, 0) != GASNET_OK) gasnet_exit(1);
  gasnet_getSegmentInfo(segments, (int)ranks);
  share_board();
  uint64_t word = 5;
  for (int i = 0; me == 0 && i < 100; ++i) gasnet_put(attentive, segments[attentive].addr, &word, sizeof word); /* warm */
  measure_all();
  barrier();
  gasnet_exit(0);
}
