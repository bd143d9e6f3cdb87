/* A bulk-synchronous program: every rank computes for a while without a call to GASNet, rank 0 a little shorter, and then
 * they talk. However long that is, no rank may be taken for dead, and nothing may be lost.
 *
 *   bsp SECONDS [SKEW [under_way]]   SECONDS of computing, ranks above 0 SKEW more; with `under_way` rank 0 has sent
 *                                    something before, which is unanswered meanwhile
 *
 * The exit code is 0 if all arrived. scripts/long-compute runs it for 61, 300 and 1,000 s. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gasnet.h"

enum { kPing = 200, kPong, kWarmUp = 100, kWord = 0x5eed };

static volatile int pongs;
static void ping(gasnet_token_t token) { gasnet_AMReplyShort0(token, kPong); }
static void pong(gasnet_token_t token) {
  (void)token;
  ++pongs;
}

static void meet(void) {
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  if (gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS) != GASNET_OK) gasnet_exit(3);
}

static void ping_all(gasnet_node_t ranks) {
  const int want = pongs + (int)ranks - 1;
  for (gasnet_node_t rank = 1; rank < ranks; ++rank) gasnet_AMRequestShort0(rank, kPing);
  GASNET_BLOCKUNTIL(pongs >= want);
}

static void compute(double seconds) {
  struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{kPing, (void (*)())ping}, {kPong, (void (*)())pong}};
  if (gasnet_init(&argc, &argv) != GASNET_OK || gasnet_attach(table, 2, GASNET_PAGESIZE * 16, 0) != GASNET_OK) return 2;
  if (argc < 2) {
    fprintf(stderr, "usage: %s SECONDS [SKEW [under_way]]\n", argv[0]);
    gasnet_exit(2);
  }
  const double seconds = atof(argv[1]), skew = argc > 2 ? atof(argv[2]) : 0.05;
  const int has_under_way = argc > 3 && strcmp(argv[3], "under_way") == 0;
  const gasnet_node_t me = gasnet_mynode(), ranks = gasnet_nodes();
  gasnet_seginfo_t *segments = calloc(ranks, sizeof *segments);
  gasnet_getSegmentInfo(segments, (int)ranks);
  uint64_t *own = segments[me].addr;
  own[0] = own[1] = 0;
  meet();
  for (int i = 0; me == 0 && i < kWarmUp; ++i) ping_all(ranks);
  meet();
  if (me == 0 && has_under_way) {
    for (gasnet_node_t rank = 1; rank < ranks; ++rank) {
      uint64_t word = kWord + rank;
      gasnet_put_nbi(rank, (uint64_t *)segments[rank].addr + 1, &word, sizeof word);
    }
  }
  fprintf(stderr, "rank %d computes\n", (int)me);
  compute(seconds + (me == 0 ? 0 : skew));
  fprintf(stderr, "rank %d is back\n", (int)me);
  if (me == 0) {
    ping_all(ranks);
    gasnet_wait_syncnbi_all();
    for (gasnet_node_t rank = 1; rank < ranks; ++rank) {
      uint64_t word = kWord + rank, back = 0;
      gasnet_put(rank, segments[rank].addr, &word, sizeof word);
      gasnet_get(&back, rank, segments[rank].addr, sizeof back);
      if (back != word) gasnet_exit(4);
    }
  }
  meet();
  if (me != 0 && (own[0] != kWord + me || own[1] != (has_under_way ? kWord + me : 0))) gasnet_exit(5);
  meet();
  if (me == 0) printf("ok with %d ranks\n", (int)ranks);
  gasnet_exit(0);
}
