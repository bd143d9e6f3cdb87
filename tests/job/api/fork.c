/* fork() by a client whose memory is pinned: a child that exits, with what exit() runs or without, one that executes another program, one
 * that writes to all it has inherited; each ends, and meanwhile and afterwards the parent's transfers
 * from and to memory inside the segment and outside it are right. fork [ROUNDS] */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "job_test.h"

enum { kBytes = 600000, kSegmentBytes = 4 << 20 };
static unsigned char outside[kBytes], back[kBytes];

/* Returns the child. */
static pid_t start_child(unsigned kind) {
  fflush(NULL);
  const pid_t child = fork();
  EXPECT(child >= 0);
  if (child != 0) return child;
  alarm(60); /* a child that hangs dies by that, which the parent sees */
  if (kind == 1) execl("/bin/true", "true", (char *)NULL);
  if (kind == 2) {
    memset(outside, 0x77, sizeof outside);
    memset(back, 0x77, sizeof back);
    void *more = malloc(1 << 20);
    memset(more, 1, 1 << 20);
    free(more);
  }
  if (kind == 3) exit(0);
  _exit(kind == 1 ? 1 : 0);
}

static void transfer(gasnet_node_t to, unsigned seed) {
  unsigned char *near = (unsigned char *)segments[me].addr + kSegmentBytes / 2;
  unsigned char *there = (unsigned char *)segments[to].addr;
  fill(outside, kBytes, seed);
  gasnet_put_bulk(to, there, outside, kBytes);
  memset(back, 0, kBytes);
  gasnet_get_bulk(back, to, there, kBytes);
  EXPECT(holds(back, kBytes, seed));
  fill(near, kBytes, seed + 1);
  gasnet_put_bulk(to, there + 1, near, kBytes);
  memset(near, 0, kBytes);
  gasnet_get_bulk(near, to, there + 1, kBytes);
  EXPECT(holds(near, kBytes, seed + 1));
}

int main(int argc, char **argv) {
  const unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 2;
  start_job(&argc, &argv, NULL, 0, kSegmentBytes);
  const gasnet_node_t to = (me + 1) % nodes;
  for (unsigned round = 0; round < 4 * rounds; ++round) {
    unsigned char *there = (unsigned char *)segments[to].addr + kSegmentBytes / 4;
    fill(outside, kBytes, round);
    fill(back, kBytes, round + 100);
    /* Under way while the child is made. */
    const gasnet_handle_t put = gasnet_put_nb_bulk(to, there, outside, kBytes);
    const pid_t child = start_child(round % 4);
    gasnet_wait_syncnb(put);
    EXPECT(holds(back, kBytes, round + 100));
    memset(back, 0, kBytes);
    gasnet_get_bulk(back, to, there, kBytes);
    EXPECT(holds(back, kBytes, round));
    transfer(to, round * 2);
    int status = -1;
    pid_t ended = 0;
    while ((ended = waitpid(child, &status, WNOHANG)) == 0) gasnet_AMPoll(); /* the others need this rank */
    EXPECT_EQ(ended, child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    transfer(to, round * 2 + 1);
  }
  end_job("fork");
}
