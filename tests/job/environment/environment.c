/* environment WHAT [ARGUMENT]: says or does what an environment variable changes. Used by
 * environment_test.cc. */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../api/job_test.h"
#include "gasnet_ratomic.h"
#include "pinwire.h"

static volatile int never, seen_quit;
static volatile int *volatile nowhere = (volatile int *)8; /* no pointer that a compiler sees through */

/* "drivers of 0: self shm dpdk" */
static void say_drivers(void) {
  char line[1024];
  int used = snprintf(line, sizeof line, "drivers of %u:", (unsigned)me);
  for (gasnet_node_t peer = 0; peer < nodes; ++peer) {
    used += snprintf(line + used, sizeof line - (size_t)used, " %s", pinwire_driver_name(peer));
  }
  puts(line);
}

static uint64_t counter(const char *name) {
  uint64_t value = 0;
  find_statistic(name, &value);
  return value;
}

static void say_barrier_messages(void) {
  const uint64_t before = counter("shm.messages_sent");
  for (int i = 0; i < 10; ++i) barrier();
  printf("barriers sent %s\n", counter("shm.messages_sent") == before ? "no messages" : "messages");
}

__attribute__((noinline)) static void die_in_a_known_function(const char *how) {
  if (!strcmp(how, "abort")) abort();
  if (!strcmp(how, "segv")) *nowhere = 1;
  if (!strcmp(how, "fatal")) {
    gasnet_barrier_notify(0, 0);
    gasnet_barrier_notify(0, 0);
  }
  never = 1; /* no tail call */
}

static void *call_once(void *together) {
  gasnet_AMPoll();
  if (together != NULL) pthread_barrier_wait(together);
  return NULL;
}
static void run_threads(int count, pthread_barrier_t *together) {
  pthread_t threads[64];
  for (int i = 0; i < count; ++i) pthread_create(&threads[i], NULL, call_once, together);
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
}

static volatile int asked, told;
static void on_ask(gasnet_token_t token, void *bytes, size_t count) {
  (void)bytes, (void)count;
  asked = 1;
  gasnet_AMReplyShort0(token, 202);
}
static void on_tell(gasnet_token_t token) {
  (void)token;
  told = 1;
}

/* One of each kind of event; three puts. */
static void add_remotely(gasnet_node_t node, void *there) {
  gex_TM_t tm;
  gex_AD_t ad;
  gasnet_QueryGexObjects(NULL, NULL, &tm, NULL);
  gex_AD_Create(&ad, tm, GEX_DT_I64, GEX_OP_ADD, 0);
  gex_Event_Wait(gex_AD_OpNB_I64(ad, NULL, node, there, GEX_OP_ADD, 1, 0, 0));
  gex_AD_Destroy(ad);
}

static void make_traffic(void) {
  static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
  static long long local;
  const gasnet_node_t next = (me + 1) % nodes;
  void *const there = segments[next].addr;
  barrier();
  for (int i = 0; i < 3; ++i) gasnet_put(next, there, &local, sizeof local);
  gasnet_put(me, segments[me].addr, &local, 4);
  gasnet_get(&local, next, there, sizeof local);
  gasnet_memset(next, there, 0, 16);
  gasnet_put_nbi(next, there, &local, 2);
  gasnet_wait_syncnbi_all();
  gasnet_wait_syncnb(gasnet_get_nb_bulk(&local, next, there, 1));
  add_remotely(next, (char *)there + 64);
  gasnet_AMRequestMedium0(next, 201, &local, sizeof local);
  GASNET_BLOCKUNTIL(told && asked);
  gasnet_hsl_lock(&lock);
  gasnet_hsl_unlock(&lock);
  gasnet_AMPoll();
  barrier();
  EXPECT_EQ(local, 0);
}

static void print_own_sums(void (*print)(const char *format, ...)) { print("sum of %s", "the client"); }

/* Lines of the client's own; what it cannot see by itself goes to standard output. */
static void write_lines(void) {
  static long long local;
  const char *file = NULL;
  unsigned line = 0;
  const int will_be_called = GASNETT_STATS_INIT(print_own_sums);
  printf("enabled %d, callback %d, masks \"%s\"", GASNETT_TRACE_ENABLED != 0, will_be_called, GASNETT_TRACE_GETMASK());
  printf(" \"%s\", local %d\n", GASNETT_STATS_GETMASK(), GASNETT_TRACE_GET_TRACELOCAL());
  GASNETT_TRACE_PRINTF("said %d", 42);
  GASNETT_TRACE_PRINTF_FORCE("forced %s", "line");
  GASNETT_STATS_PRINTF("counted %d", 7);
  GASNETT_STATS_PRINTF_FORCE("forced count");
  GASNETT_TRACE_SETSOURCELINE("/some/where/client.c", 12);
  gasnet_put(me, segments[me].addr, &local, 4);
  GASNETT_TRACE_FREEZESOURCELINE();
  GASNETT_TRACE_SETSOURCELINE("client.c", 13);
  gasnet_put(me, segments[me].addr, &local, 5);
  GASNETT_TRACE_UNFREEZESOURCELINE();
  GASNETT_TRACE_SETSOURCELINE("client.c", 14);
  GASNETT_TRACE_GETSOURCELINE(&file, &line);
  printf("at %s:%u\n", file != NULL ? file : "nowhere", line);
  GASNETT_STATS_DUMP(1);
  GASNETT_TRACE_SET_TRACELOCAL(0);
  gasnet_put(me, segments[me].addr, &local, 6);
  GASNETT_TRACE_SETMASK("G");
  printf("now \"%s\", enabled %d\n", GASNETT_TRACE_GETMASK(), GASNETT_TRACE_ENABLED != 0);
  GASNETT_TRACE_PRINTF("masked");
  GASNETT_TRACE_PRINTF_FORCE("forced again");
}

/* How many descriptors a program has that the client starts. */
static void say_descriptors(void) {
  int count = 0;
  FILE *const listing = popen("ls /proc/self/fd", "r");
  EXPECT(listing != NULL);
  for (int c = getc(listing); c != EOF; c = getc(listing)) count += c == '\n';
  EXPECT_EQ(pclose(listing), 0);
  printf("a program has %d descriptors\n", count);
}

/* A child of this rank ends; the rank looks how, and goes on. */
static void end_child(const char *how) {
  fflush(NULL);
  const pid_t child = fork();
  EXPECT(child >= 0);
  if (child == 0) {
    alarm(60); /* one that hangs dies by that */
    if (!strcmp(how, "exit")) gasnet_exit(3);
    if (!strcmp(how, "terminated")) raise(SIGTERM);
    die_in_a_known_function(how);
    _exit(1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  printf("the child %s %d\n", WIFEXITED(status) ? "exited with" : "died by", WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
  make_traffic();
}

static void on_quit(int number) {
  (void)number;
  seen_quit = 1;
}

/* "0-3,8": where this thread may run. */
static void read_mask(char *list) {
  char line[256];
  FILE *status = fopen("/proc/thread-self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) sscanf(line, "Cpus_allowed_list: %63s", list);
  if (status != NULL) fclose(status);
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  signal(SIGSEGV, SIG_DFL); /* a sanitizer has taken it */
  const char *what = argv[1], *more = argc > 2 ? argv[2] : "";
  if (!strcmp(what, "leave_late")) signal(SIGQUIT, on_quit);
  gasnet_handlerentry_t table[] = {{201, (void (*)())on_ask}, {202, (void (*)())on_tell}};
  char mask_before[64] = "?", mask_after[64] = "?";
  read_mask(mask_before);
  start_job(&argc, &argv, table, 2, 4096);
  if (!strcmp(what, "facts")) {
    printf("segment limit %llu, depth %u, job directory %s\n",
           (unsigned long long)gasnet_getMaxLocalSegmentSize(), pinwire_network_depth(),
           getenv("GASNET_JOB_DIR"));
  } else if (!strcmp(what, "masks")) {
    read_mask(mask_after);
    printf("before %s, after %s\n", mask_before, mask_after);
  } else if (!strcmp(what, "drivers")) {
    say_drivers();
  } else if (!strcmp(what, "barriers")) {
    if (me == 0) say_barrier_messages();
    if (me != 0) {
      for (int i = 0; i < 10; ++i) barrier();
    }
  } else if (!strcmp(what, "traffic")) {
    make_traffic();
    if (!strcmp(more, "then_die") && me == 0) abort();
  } else if (!strcmp(what, "descriptors")) {
    if (me == 0) say_descriptors();
    barrier();
  } else if (!strcmp(what, "child")) {
    end_child(more);
  } else if (!strcmp(what, "lines")) {
    write_lines();
  } else if (!strcmp(what, "die")) {
    if ((int)me == 0) die_in_a_known_function(more);
    GASNET_BLOCKUNTIL(never);
  } else if (!strcmp(what, "wait")) {
    printf("waiting: %d\n", (int)getpid());
    fflush(stdout);
    while (!never) pause(); /* any signal that is handled goes on */
  } else if (!strcmp(what, "wait_until_told")) {
    printf("waiting: %d\n", (int)getpid());
    fflush(stdout);
    if (getchar() == EOF) return 5;
  } else if (!strcmp(what, "threads")) { /* ARGUMENT at once, then as many one after the other */
    const int count = atoi(more);
    pthread_barrier_t together;
    gasnet_AMPoll(); /* main is one of them once it has called */
    for (int i = 0; i < count; ++i) run_threads(1, NULL);
    pthread_barrier_init(&together, NULL, (unsigned)count);
    run_threads(count, &together);
  } else if (!strcmp(what, "leave_late")) {
    if (me == 0) gasnet_exit(0);
    for (int turn = 0; turn < atoi(more) && !seen_quit; ++turn) usleep(100000);
    printf("%s SIGQUIT\n", seen_quit ? "saw" : "no");
    gasnet_exit(0);
  } else {
    return 2;
  }
  end_job(what);
}
