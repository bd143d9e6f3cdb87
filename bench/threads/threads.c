/* threads [--threads T] [--seconds S]: how fast T threads of each rank send together. The first half of the
 * ranks send, each to one of the second half, whose T threads wait. Prints one JSON object for Short
 * active messages and one for 8-byte puts, with the rate of all of them. bench/threads/threads.py runs it with many
 * numbers of threads, and of ranks, and makes tables. */
#include <getopt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gasnet.h"
#include "pinwire.h"

enum { kThreadsMax = 64, kBatch = 64, kMessage = 200, kAllSent = 201, kAllHere = 202, kRate = 203 };
enum { kShorts, kPuts };

static gasnet_node_t me, half, partner;
static int thread_count = 1, operation;
static double seconds = 0.5;
static char *segment;

static atomic_ullong received, expected; /* by the second half */
static atomic_int over, answered;
static double rate_sum; /* of rank 0 */
static atomic_int rates_known;

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void on_message(gasnet_token_t token) {
  (void)token;
  atomic_fetch_add_explicit(&received, 1, memory_order_relaxed);
}
static void on_all_sent(gasnet_token_t token, int low, int high) {
  (void)token;
  atomic_store(&expected, (unsigned)low | (unsigned long long)(unsigned)high << 32);
}
static void on_all_here(gasnet_token_t token) {
  (void)token;
  atomic_store(&answered, 1);
}
static void on_rate(gasnet_token_t token, int thousands) {
  (void)token;
  rate_sum += 1e3 * thousands; /* one thread of rank 0 is in the library by then */
  atomic_fetch_add(&rates_known, 1);
}

static void barrier(void) {
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
}

struct Sender {
  pthread_t thread;
  int index;
  double until;
  unsigned long long sent;
};

static void *send_until(void *of) {
  struct Sender *sender = of;
  char *mine = segment + 64 * sender->index;
  unsigned long long value = 0;
  do {
    for (int i = 0; i < kBatch; ++i) {
      if (operation == kShorts)
        gasnet_AMRequestShort0(partner, kMessage);
      else
        gasnet_put_nbi(partner, mine, &value, sizeof value);
    }
    gasnet_wait_syncnbi_puts();
    sender->sent += kBatch;
  } while (now_s() < sender->until);
  return NULL;
}
static void *wait_until_over(void *nothing) {
  GASNET_BLOCKUNTIL(atomic_load(&over));
  return nothing;
}

/* The count that this rank sent in a second, all of it seen by its partner. */
static double send_all(void) {
  static struct Sender senders[kThreadsMax];
  const double begin = now_s();
  unsigned long long sent = 0;
  for (int i = 0; i < thread_count; ++i) {
    senders[i].index = i;
    senders[i].until = begin + seconds;
    senders[i].sent = 0;
    if (pthread_create(&senders[i].thread, NULL, send_until, &senders[i]) != 0) {
      fprintf(stderr, "threads: cannot make thread %d of %d\n", i, thread_count);
      gasnet_exit(1);
    }
  }
  for (int i = 0; i < thread_count; ++i) {
    pthread_join(senders[i].thread, NULL);
    sent += senders[i].sent;
  }
  const unsigned long long messages = operation == kShorts ? sent : 0;
  gasnet_AMRequestShort2(partner, kAllSent, (int)(unsigned)messages, (int)(messages >> 32));
  GASNET_BLOCKUNTIL(atomic_load(&answered));
  return (double)sent / (now_s() - begin);
}

static void receive_all(void) {
  pthread_t threads[kThreadsMax];
  for (int i = 1; i < thread_count; ++i) pthread_create(&threads[i], NULL, wait_until_over, NULL);
  GASNET_BLOCKUNTIL(atomic_load(&received) == atomic_load(&expected));
  atomic_store(&over, 1);
  for (int i = 1; i < thread_count; ++i) pthread_join(threads[i], NULL);
  gasnet_AMRequestShort0(partner, kAllHere);
}

static void measure(int which, const char *name) {
  operation = which;
  atomic_store(&received, 0);
  atomic_store(&expected, ~0ull);
  atomic_store(&over, 0);
  atomic_store(&answered, 0);
  atomic_store(&rates_known, 0);
  rate_sum = 0;
  barrier();
  if (me < half) {
    const double rate = send_all();
    gasnet_AMRequestShort1(0, kRate, (int)(rate / 1e3));
  } else {
    receive_all();
  }
  if (me == 0) {
    GASNET_BLOCKUNTIL(atomic_load(&rates_known) == (int)half);
    printf("{\"driver\": \"%s\", \"op\": \"%s\", \"ranks\": %u, \"threads\": %d, \"msgs_per_s\": %.0f}\n",
           pinwire_driver_name(partner), name, (unsigned)gasnet_nodes(), thread_count, rate_sum);
    fflush(stdout);
  }
  barrier();
}

/* One rank tells a mistake that all of them find. */
static void refuse(const char *sentence) {
  if (me == 0) fprintf(stderr, "threads: %s\n", sentence);
  gasnet_exit(2);
}

static void read_arguments(int argc, char **argv) {
  const struct option options[] = {{"threads", required_argument, NULL, 't'},
                                   {"seconds", required_argument, NULL, 's'},
                                   {NULL, 0, NULL, 0}};
  opterr = 0;
  for (int letter; (letter = getopt_long(argc, argv, "t:s:", options, NULL)) != -1;) {
    if (letter == 't') thread_count = atoi(optarg);
    else if (letter == 's') seconds = atof(optarg);
    else refuse("it takes --threads T and --seconds S");
  }
  if (optind != argc) refuse("it takes --threads T and --seconds S");
  if (thread_count < 1 || thread_count > kThreadsMax) refuse("--threads takes 1 to 64");
  if (!(seconds > 0 && seconds <= 3600)) refuse("--seconds takes more than 0 and at most 3600");
  if (gasnet_nodes() % 2 != 0) refuse("it takes an even number of ranks: senders and receivers");
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{kMessage, (void (*)())on_message},
                                   {kAllSent, (void (*)())on_all_sent},
                                   {kAllHere, (void (*)())on_all_here},
                                   {kRate, (void (*)())on_rate}};
  if (gasnet_init(&argc, &argv) != GASNET_OK) return 1;
  me = gasnet_mynode();
  read_arguments(argc, argv);
  half = gasnet_nodes() / 2;
  partner = me < half ? me + half : me - half;
  if (gasnet_attach(table, 4, 16 * GASNET_PAGESIZE, 0) != GASNET_OK) gasnet_exit(1);
  gasnet_seginfo_t *segments = malloc(gasnet_nodes() * sizeof *segments);
  gasnet_getSegmentInfo(segments, (int)gasnet_nodes());
  segment = segments[partner].addr;
  free(segments);
  measure(kShorts, "am_short");
  measure(kPuts, "put_nbi_8");
  gasnet_exit(0);
}
