/* Ranks that fall silent, for programs that show what the others get meanwhile: all ranks between the first and the last, the
 * attentive one, are outside GASNet as if they computed. They sleep, because on few cores a computation would take the cores
 * from the ranks that are looked at. */
#ifndef PINWIRE_BENCH_SILENCE_H
#define PINWIRE_BENCH_SILENCE_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "gasnet.h"

enum { kRanksMax = 64, kSilenceMax_s = 20 };

/* All ranks map this page, so that a silent rank needs no GASNet to be released. */
typedef struct {
  int ranks_here, is_released, done;
  int is_silent[kRanksMax];
} board_t;

static gasnet_node_t me, ranks, attentive;
static board_t *board;
static const char *program;

static void barrier(void) {
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
}
static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}
static void nap(void) {
  const struct timespec millisecond = {0, 1000000};
  nanosleep(&millisecond, NULL);
}
static int read_now(const int *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
static void write_now(int *word, int value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }
static void fail(const char *sentence, int code) {
  fprintf(stderr, "%s, rank %u: %s\n", program, (unsigned)me, sentence);
  gasnet_exit(code);
}

/* After gasnet_init(). */
static void look_around(const char *name) {
  program = name;
  me = gasnet_mynode();
  ranks = gasnet_nodes();
  attentive = ranks - 1;
}

/* By the launcher's process, the parent of all ranks, and without a message: rank 0 has sent the others nothing yet. */
static void share_board(void) {
  char name[64];
  snprintf(name, sizeof name, "/pinwire_%s.%d", program, (int)getppid());
  const int fd = shm_open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  void *page = MAP_FAILED;
  if (fd >= 0 && ftruncate(fd, sizeof *board) == 0) page = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (page != MAP_FAILED) __atomic_add_fetch(&((board_t *)page)->ranks_here, 1, __ATOMIC_ACQ_REL);
  barrier();
  if (fd >= 0) shm_unlink(name); /* the first of all does it */
  if (page == MAP_FAILED) fail("no memory to share", 1);
  board = (board_t *)page;
  if (read_now(&board->ranks_here) != (int)ranks) fail("one launcher must have started all ranks on one host", 2);
}

static int is_between(gasnet_node_t rank) { return rank != 0 && rank != attentive; }
/* Ends by itself, so that a put that waits for this rank shows as an error and not as a job that hangs. */
static void be_silent(void) {
  const double until = now_us() + 1e6 * kSilenceMax_s;
  write_now(&board->is_silent[me], 1);
  while (!read_now(&board->is_released) && now_us() < until) nap();
  write_now(&board->is_silent[me], 0);
}
static int all_are_silent(void) {
  for (gasnet_node_t rank = 0; rank < ranks; ++rank)
    if (is_between(rank) && !read_now(&board->is_silent[rank])) return 0;
  return 1;
}

#endif
