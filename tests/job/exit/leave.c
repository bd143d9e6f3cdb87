/* leave HOW RANK OTHERS: rank RANK ends as HOW says while the other ranks do OTHERS. Used by
 * exit_test.cc: C1-098...108, C1-022...029. */
#include <signal.h>
#include <unistd.h>

#include "../api/job_test.h"

static const char *how;
static volatile int never, pinged;

static void on_ping(gasnet_token_t token) {
  (void)token;
  pinged = 1;
}
static void on_leave(gasnet_token_t token, int code) {
  (void)token;
  gasnet_exit(code);
}
/* A client may catch SIGQUIT, tidy up and leave (C1-103). */
static void on_quit(int number) {
  static const char words[] = "saw SIGQUIT\n";
  (void)number;
  if (write(STDOUT_FILENO, words, sizeof words - 1) < 0) _exit(9);
  gasnet_exit(55);
}

static void do_others(const char *what) {
  if (!strcmp(what, "barrier")) {
    gasnet_barrier(0, GASNET_BARRIERFLAG_ANONYMOUS);
  } else if (!strcmp(what, "blockuntil")) {
    GASNET_BLOCKUNTIL(never);
  } else if (!strcmp(what, "compute")) {
    while (!never) {
    }
  } else if (!strcmp(what, "sleep")) {
    for (;;) pause();
  } else if (!strcmp(what, "catch")) {
    GASNET_BLOCKUNTIL(never);
  } else {
    gasnet_exit(atoi(what)); /* a code of its own at once: C1-101 */
  }
}

static int leave(void) {
  static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
  if (!strcmp(how, "exit")) gasnet_exit(42);
  if (!strcmp(how, "return")) return 42;
  if (!strcmp(how, "return0")) return 0;
  if (!strcmp(how, "libc_exit")) exit(42);
  if (!strcmp(how, "section")) { /* C1-102 */
    gasnet_hold_interrupts();
    gasnet_exit(42);
  }
  if (!strcmp(how, "hsl")) {
    gasnet_hsl_lock(&lock);
    gasnet_exit(42);
  }
  if (!strcmp(how, "handler")) {
    gasnet_AMRequestShort1(me, 201, 42);
    GASNET_BLOCKUNTIL(never);
  }
  if (!strcmp(how, "remote_handler")) {
    gasnet_AMRequestShort1((me + 1) % nodes, 201, 42);
    GASNET_BLOCKUNTIL(never);
  }
  if (!strcmp(how, "abort")) abort();
  if (!strcmp(how, "segv")) {
    signal(SIGSEGV, SIG_DFL); /* a sanitizer would catch it */
    raise(SIGSEGV);
  }
  if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
  if (!strcmp(how, "term")) {
    raise(SIGTERM); /* the library turns it into SIGQUIT: C1-104 */
    for (;;) pause();
  }
  if (!strcmp(how, "unregistered")) { /* C1-123 */
    gasnet_AMRequestShort0((me + 1) % nodes, 222);
    GASNET_BLOCKUNTIL(never);
  }
  if (!strcmp(how, "double_notify")) {
    gasnet_barrier_notify(0, 0);
    gasnet_barrier_notify(0, 0);
  }
  if (!strcmp(how, "outside_segment")) {
    gasnet_put_val((me + 1) % nodes, (char *)segments[(me + 1) % nodes].addr - 8, 1, 8);
  }
  return 3;
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{200, (void (*)())on_ping}, {201, (void (*)())on_leave}};
  if (argc != 4) return 2;
  how = argv[1];
  if (!strcmp(argv[3], "catch")) signal(SIGQUIT, on_quit);
  if (!strcmp(how, "before_attach")) { /* legal once init returned: C1-099 */
    if (gasnet_init(&argc, &argv) != GASNET_OK) return 1;
    if ((int)gasnet_mynode() == atoi(argv[2])) gasnet_exit(42);
    gasnet_attach(NULL, 0, 4096, 0);
    do_others(argv[3]);
  }
  start_job(&argc, &argv, table, 2, 4096);
  /* Messages have passed in all directions, so that drivers have state to leave behind. */
  gasnet_AMRequestShort0((me + 1) % nodes, 200);
  GASNET_BLOCKUNTIL(pinged);
  barrier();
  if ((int)me == atoi(argv[2])) return leave();
  do_others(argv[3]);
  return 4;
}
