/* chatter [SECONDS]: puts and gets in a ring of ranks, large and small, for as long as it is let:
 * what a test breaks meanwhile. */
#include <gasnet.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SMALL = 8, LARGE = 256 * 1024, SECONDS = 100 };

int main(int argc, char **argv) {
  gasnet_init(&argc, &argv);
  gasnet_attach(NULL, 0, 4 * LARGE, 0);
  gasnet_seginfo_t segments[64];
  gasnet_getSegmentInfo(segments, 64);
  const gasnet_node_t me = gasnet_mynode(), next = (me + 1) % gasnet_nodes();
  char *mine = segments[me].addr, *theirs = segments[next].addr;
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
  if (me == 0) {
    puts("chatting");
    fflush(stdout);
  }
  const int seconds = argc > 1 ? atoi(argv[1]) : SECONDS;
  for (const time_t end = time(NULL) + seconds; time(NULL) < end;) {
    gasnet_put(next, theirs, mine, SMALL);
    gasnet_put(next, theirs + LARGE, mine + LARGE, LARGE);
    gasnet_get(mine + 2 * LARGE, next, theirs, LARGE);
  }
  gasnet_exit(0);
  return 0;
}
