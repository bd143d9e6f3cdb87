/* leave HOW RANK OTHERS: rank RANK ends as HOW says while the other ranks do OTHERS. Says "cause at
 * SECONDS" (of the monotonic clock) just before. With HOW "together" all ranks end, each once it has all messages. Used by
 * exit_test.cc: C1-098...108, C1-022...029. */
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../api/job_test.h"

enum { kSegmentBytes = 65536, kThreads = 4 };

static const char *how;
static volatile int never, pinged, lasts;
static volatile int *volatile nowhere = (volatile int *)8;
static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;

static void say_cause(void) {
  struct timespec now;
  char line[64];
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int used = snprintf(line, sizeof line, "cause at %ld.%09ld\n", (long)now.tv_sec, now.tv_nsec);
  if (write(STDOUT_FILENO, line, (size_t)used) < 0) _exit(9);
}

static void on_ping(gasnet_token_t token) {
  (void)token;
  pinged = 1;
}
static void on_last(gasnet_token_t token) {
  (void)token;
  ++lasts;
}
static void on_leave(gasnet_token_t token, int code) {
  (void)token;
  say_cause();
  gasnet_exit(code);
}
static void on_leave_with_lock(gasnet_token_t token, int code) {
  gasnet_hsl_lock(&lock);
  on_leave(token, code);
}
static void on_crash(gasnet_token_t token) {
  (void)token;
  say_cause();
  *nowhere = 1;
}
static void on_ask_back(gasnet_token_t token) { gasnet_AMReplyShort1(token, 201, 42); }
static void on_flood(gasnet_token_t token, void *bytes, size_t count) {
  (void)token, (void)bytes, (void)count;
}

/* A client may catch SIGQUIT, tidy up and leave (C1-103). */
static void on_quit(int number) {
  static const char words[] = "saw SIGQUIT\n";
  (void)number;
  if (write(STDOUT_FILENO, words, sizeof words - 1) < 0) _exit(9);
  gasnet_exit(55);
}
static void ignore_quit(int number) { (void)number; }
static void leave_from_signal(int number) {
  (void)number;
  gasnet_exit(42);
}

static void flood(gasnet_node_t to) {
  static unsigned char bytes[512];
  for (;;) gasnet_AMRequestMedium0(to, 206, bytes, sizeof bytes);
}

/* Puts that nobody may be there to acknowledge, and the wait for them. */
static void put_and_sync(gasnet_node_t to) {
  static unsigned char bytes[8192];
  for (;;) {
    const gasnet_handle_t explicit = gasnet_put_nb_bulk(to, segments[to].addr, bytes, sizeof bytes);
    gasnet_put_nbi_bulk(to, segments[to].addr, bytes, sizeof bytes);
    gasnet_wait_syncnbi_puts();
    gasnet_wait_syncnb(explicit);
  }
}

static void do_others(const char *what, gasnet_node_t leaver) {
  if (!strcmp(what, "barrier")) {
    barrier();
  } else if (!strcmp(what, "blockuntil") || !strcmp(what, "catch") || !strcmp(what, "stubborn")) {
    GASNET_BLOCKUNTIL(never);
  } else if (!strcmp(what, "sync")) {
    put_and_sync(leaver);
  } else if (!strcmp(what, "flood")) {
    flood(leaver);
  } else if (!strcmp(what, "compute")) {
    while (!never) {
    }
  } else if (!strcmp(what, "sleep")) {
    for (;;) pause();
  } else {
    gasnet_exit(atoi(what)); /* a code of its own at once: C1-101 */
  }
}

static void *leave_with_code(void *code) {
  gasnet_exit((int)(intptr_t)code);
  return NULL;
}
static void *poll_for_ever(void *nothing) {
  GASNET_BLOCKUNTIL(never);
  return nothing;
}

static void *read_stdin(void *nothing) {
  int ends[2];
  if (pipe(ends) != 0 || dup2(ends[0], STDIN_FILENO) < 0) _exit(9);
  getchar(); /* nothing will ever come */
  return nothing;
}

/* Not standard input. */
static void *read_pipe(void *nothing) {
  int ends[2];
  FILE *const stream = pipe(ends) == 0 ? fdopen(ends[0], "r") : NULL;
  if (stream == NULL) _exit(9);
  getc(stream); /* nothing will ever come */
  return nothing;
}

/* PAR: any thread, while others are in the library. */
static void leave_by_threads(void) {
  pthread_t thread;
  if (!strcmp(how, "thread")) pthread_create(&thread, NULL, leave_with_code, (void *)42);
  if (!strcmp(how, "thread_codes")) {
    for (intptr_t i = 0; i < kThreads; ++i)
      pthread_create(&thread, NULL, leave_with_code, (void *)(intptr_t)(42 + i));
  }
  if (!strcmp(how, "while_threads_poll")) {
    for (int i = 0; i < kThreads; ++i) pthread_create(&thread, NULL, poll_for_ever, NULL);
    usleep(20000);
    gasnet_exit(42);
  }
  if (!strcmp(how, "return_while_threads_poll")) {
    for (int i = 0; i < kThreads; ++i) pthread_create(&thread, NULL, poll_for_ever, NULL);
    usleep(20000);
    exit(42);
  }
  if (!strcmp(how, "while_stdin_is_read")) { /* whose lock a flush of all streams would want */
    pthread_create(&thread, NULL, read_stdin, NULL);
    usleep(20000);
    gasnet_exit(42);
  }
  if (strstr(how, "while_thread_reads_pipe")) {
    printf("printed before the end\n");
    pthread_create(&thread, NULL, read_pipe, NULL);
    usleep(20000);
    if (!strcmp(how, "exit_while_thread_reads_pipe")) exit(42);
    gasnet_exit(42);
  }
  GASNET_BLOCKUNTIL(never);
}

static void leave_by_handler(void) {
  const gasnet_node_t next = (me + 1) % nodes;
  if (!strcmp(how, "handler")) gasnet_AMRequestShort1(me, 201, 42);
  if (!strcmp(how, "remote_handler")) gasnet_AMRequestShort1(next, 201, 42);
  if (!strcmp(how, "handler_hsl")) gasnet_AMRequestShort1(next, 202, 42);
  if (!strcmp(how, "reply_handler")) gasnet_AMRequestShort0(me, 203);
  if (!strcmp(how, "remote_reply_handler")) gasnet_AMRequestShort0(next, 203);
  if (!strcmp(how, "handler_segv")) gasnet_AMRequestShort0(next, 204);
  GASNET_BLOCKUNTIL(never);
}

static void leave_by_signal(int number) {
  raise(number);
  for (;;) pause();
}

/* While whatever is in progress is interrupted by a signal, whose handler leaves. */
static void leave_from_signal_handler(void) {
  const struct itimerval soon = {{0, 0}, {0, 20000}};
  signal(SIGALRM, leave_from_signal);
  setitimer(ITIMER_REAL, &soon, NULL);
  if (!strcmp(how, "signal_in_malloc")) {
    for (;;) free(malloc(100000 + (size_t)rand() % 200000));
  }
  if (!strcmp(how, "signal_in_flood")) flood((me + 1) % nodes);
  if (!strcmp(how, "signal_in_sync")) put_and_sync((me + 1) % nodes);
  GASNET_BLOCKUNTIL(never);
}

static int leave(void) {
  if (!strncmp(how, "signal_in_", 10)) leave_from_signal_handler();
  if (strstr(how, "thread") || strstr(how, "stdin")) leave_by_threads();
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
  if (!strcmp(how, "access_region")) {
    gasnet_begin_nbi_accessregion();
    gasnet_exit(42);
  }
  if (!strcmp(how, "notified")) { /* between notify and wait */
    gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
    gasnet_exit(42);
  }
  if (!strcmp(how, "in_flight")) {
    static unsigned char bytes[kSegmentBytes];
    for (int i = 0; i < 100; ++i)
      gasnet_put_nbi_bulk((me + 1) % nodes, segments[(me + 1) % nodes].addr, bytes, sizeof bytes);
    gasnet_exit(42);
  }
  if (!strcmp(how, "child")) { /* a child's end is not the rank's */
    const pid_t child = fork();
    if (child == 0) exit(7);
    waitpid(child, NULL, 0);
    gasnet_exit(42);
  }
  if (strstr(how, "handler")) leave_by_handler();
  if (!strcmp(how, "abort")) abort();
  if (!strcmp(how, "segv")) *nowhere = 1;
  if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
  if (!strcmp(how, "term")) leave_by_signal(SIGTERM); /* becomes SIGQUIT: C1-104 */
  if (!strcmp(how, "int")) leave_by_signal(SIGINT);
  if (!strcmp(how, "quit")) leave_by_signal(SIGQUIT);
  if (!strcmp(how, "term_caught")) {
    signal(SIGQUIT, on_quit);
    leave_by_signal(SIGTERM);
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

/* In good order: each rank leaves once it has everybody's last message; its own may still be under way. */
static int end_together(void) {
  enum { kMessages = 10 };
  for (int i = 0; i < kMessages; ++i) {
    for (gasnet_node_t k = 1; k < nodes; ++k) gasnet_AMRequestShort0((me + k) % nodes, 205);
  }
  GASNET_BLOCKUNTIL(lasts == kMessages * ((int)nodes - 1));
  printf("rank %u has passed\n", (unsigned)me);
  gasnet_exit(0);
  return 3;
}

/* Before attach, legal once init returned (C1-099). The others are in attach, or not there yet. */
static int leave_early(int *argc, char ***argv, gasnet_node_t leaver, const char *others) {
  if (gasnet_init(argc, argv) != GASNET_OK) return 1;
  how += strlen("before_attach_");
  me = gasnet_mynode();
  nodes = gasnet_nodes();
  if (me == leaver) {
    usleep(20000); /* the others are on their way into attach */
    say_cause();
    return leave();
  }
  if (!strcmp(others, "attach")) gasnet_attach(NULL, 0, kSegmentBytes, 0);
  for (;;) pause();
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {
      {200, (void (*)())on_ping},  {201, (void (*)())on_leave}, {202, (void (*)())on_leave_with_lock},
      {203, (void (*)())on_ask_back}, {204, (void (*)())on_crash}, {206, (void (*)())on_flood},
      {205, (void (*)())on_last}};
  if (argc != 4) return 2;
  signal(SIGSEGV, SIG_DFL); /* a sanitizer has taken it */
  how = argv[1];
  const gasnet_node_t leaver = (gasnet_node_t)atoi(argv[2]);
  const char *const others = argv[3];
  if (!strcmp(others, "catch")) signal(SIGQUIT, on_quit);
  if (!strcmp(others, "stubborn")) signal(SIGQUIT, ignore_quit);
  if (!strcmp(how, "before_init")) { /* the others wait for it in gasnet_init */
    if (atoi(getenv("GASNET_JOB_RANK")) == (int)leaver) {
      usleep(20000);
      say_cause();
      return 42;
    }
    start_job(&argc, &argv, table, 7, kSegmentBytes);
  }
  if (!strncmp(how, "before_attach_", 14)) return leave_early(&argc, &argv, leaver, others);
  start_job(&argc, &argv, table, 7, kSegmentBytes);
  /* Messages have passed in all directions, so that drivers have state to leave behind. */
  gasnet_AMRequestShort0((me + 1) % nodes, 200);
  GASNET_BLOCKUNTIL(pinged);
  barrier();
  if (!strcmp(how, "together")) return end_together();
  if (me == leaver) {
    if (!strstr(how, "handler")) say_cause();
    return leave();
  }
  do_others(others, leaver);
  return 4;
}
