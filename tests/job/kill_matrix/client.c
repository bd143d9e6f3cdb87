/* client FOLDER: a client that goes from one phase of its life to the next when a file in FOLDER lets it, and leaves files
 * there that tell where it is: PHASE.RANK.PROCESS. Rank 1 begins gasnet_init() after `start`, rank 0 calls gasnet_exit(7) after
 * `exit`, the others after `last`. */
#include <fcntl.h>
#include <unistd.h>

#include "../api/job_test.h"

enum { kCode = 7, kSegmentBytes = 65536, kPathBytes = 4096 };

static const char *folder;

static int is_open(const char *gate) {
  char path[kPathBytes];
  snprintf(path, sizeof path, "%s/%s", folder, gate);
  return access(path, F_OK) == 0;
}

static void tell(const char *phase, int rank) {
  char path[kPathBytes];
  snprintf(path, sizeof path, "%s/%s.%d.%d", folder, phase, rank, (int)getpid());
  const int file = open(path, O_CREAT | O_WRONLY, 0600);
  if (file < 0) _exit(9);
  close(file);
}

/* The launcher tells the number in the environment, before gasnet_init(). */
static int own_rank(void) {
  const char *number = getenv("GASNET_JOB_RANK");
  if (number == NULL) number = getenv("PMIX_RANK");
  return number != NULL ? atoi(number) : 0;
}

static void poll_until(const char *gate) {
  while (!is_open(gate)) {
    gasnet_AMPoll();
    usleep(1000);
  }
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  folder = argv[1];
  tell("starting", own_rank());
  while (own_rank() == 1 && !is_open("start")) usleep(1000);
  start_job(&argc, &argv, NULL, 0, kSegmentBytes);
  tell("running", (int)me);
  poll_until("exit");
  if (me == 0) {
    tell("exiting", (int)me);
    gasnet_exit(kCode);
  }
  poll_until("last");
  gasnet_exit(kCode);
  return 1;
}
