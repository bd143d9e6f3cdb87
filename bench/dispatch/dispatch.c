/* What a dispatch mode costs and gives, for bench/dispatch/dispatch.py: a rank that answers Short AMs while it computes for
 * so many microseconds between two polls, or waits inside GASNet, or computes and never polls; the raw wake of a thread by
 * an eventfd and a signal on the same machine; sections and locks. Two ranks; one JSON object a line.
 * dispatch COUNT BUSY_US...   BUSY_US: 0 waits inside GASNet, -1 never polls */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "gasnet.h"

enum { kAsk = 201, kAnswer, kStop, kCountMax = 1000000 };

static int answered, stopped;
static int read_now(int *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
static void add_one(int *word) { __atomic_fetch_add(word, 1, __ATOMIC_RELEASE); }
static void on_ask(gasnet_token_t token) { gasnet_AMReplyShort0(token, kAnswer); }
static void on_answer(gasnet_token_t token) {
  (void)token;
  add_one(&answered);
}
static void on_stop(gasnet_token_t token) {
  (void)token;
  add_one(&stopped);
}

static double now_us(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return 1e6 * (double)at.tv_sec + 1e-3 * (double)at.tv_nsec;
}
static double processor_us(void) {
  struct timespec at;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
  return 1e6 * (double)at.tv_sec + 1e-3 * (double)at.tv_nsec;
}
static void compute_us(double us) {
  const double until = now_us() + us;
  while (now_us() < until) {
  }
}

static void fail(const char *what) {
  fprintf(stderr, "dispatch: %s: %s\n", what, strerror(errno));
  gasnet_exit(1);
}
static int compare(const void *a, const void *b) {
  const double left = *(const double *)a, right = *(const double *)b;
  return left < right ? -1 : left > right;
}
static double samples[kCountMax];
static void report_samples(const char *name, int busy_us, int count) {
  qsort(samples, (size_t)count, sizeof samples[0], compare);
  printf("{\"what\": \"%s\", \"busy_us\": %d, \"count\": %d, \"median_us\": %.3f, \"p10_us\": %.3f, \"p90_us\": %.3f}\n", name,
         busy_us, count, samples[count / 2], samples[count / 10], samples[count * 9 / 10]);
}
static void report_ns(const char *name, double us, int count) {
  printf("{\"what\": \"%s\", \"ns\": %.2f}\n", name, 1e3 * us / count);
}

static void barrier(void) {
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
}

/* Round trips with pauses between them, so that who sleeps sleeps again. */
static void ask(int count, int busy_us) {
  for (int i = 0; i < count; ++i) {
    compute_us(300 + i % 97);
    const int before = read_now(&answered);
    const double from = now_us();
    gasnet_AMRequestShort0(1, kAsk);
    GASNET_BLOCKUNTIL(read_now(&answered) == before + 1);
    samples[i] = now_us() - from;
  }
  report_samples("round_trip", busy_us, count);
  gasnet_AMRequestShort0(1, kStop);
}
static void answer(int busy_us) {
  const int before = read_now(&stopped);
  if (busy_us == 0) {
    GASNET_BLOCKUNTIL(read_now(&stopped) != before);
    return;
  }
  while (read_now(&stopped) == before) {
    if (busy_us < 0) continue;
    compute_us(busy_us);
    gasnet_AMPoll();
  }
}
static void round_trips(int count, int busy_us) {
  barrier();
  if (gasnet_mynode() == 0) {
    ask(count, busy_us);
  } else {
    answer(busy_us);
  }
  barrier();
}

/* The floor of an interrupt: eventfd, a thread that sleeps in epoll_wait, tgkill, a handler. */
static double handled_at_us;
static int was_handled;
static void on_signal(int number) {
  (void)number;
  handled_at_us = now_us();
  add_one(&was_handled);
}
typedef struct {
  int event_fd;
  pid_t thread_id;
  int number;
  int is_over;
} waker_t;
static void *wake(void *argument) {
  waker_t *waker = (waker_t *)argument;
  const int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {EPOLLIN, {0}};
  if (epoll_fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, waker->event_fd, &event) != 0) fail("epoll");
  while (!read_now(&waker->is_over)) {
    uint64_t wakes;
    if (epoll_wait(epoll_fd, &event, 1, -1) != 1 || read(waker->event_fd, &wakes, sizeof wakes) < 0) continue;
    syscall(SYS_tgkill, getpid(), waker->thread_id, waker->number);
  }
  close(epoll_fd);
  return NULL;
}
/* Whose eventfd a second thread writes to, as a peer would. */
typedef struct {
  int event_fd, count;
  double sent_us[kCountMax];
  int sent;
} sender_t;
static sender_t sender;
static void *send_wakes(void *unused) {
  (void)unused;
  const uint64_t one = 1;
  for (int i = 0; i < sender.count; ++i) {
    compute_us(300 + i % 97);
    sender.sent_us[i] = now_us();
    if (write(sender.event_fd, &one, sizeof one) < 0) fail("eventfd");
    add_one(&sender.sent);
    while (read_now(&was_handled) != i + 1) {
    }
  }
  return NULL;
}
static void raw_wakes(int count) {
  waker_t waker = {eventfd(0, EFD_CLOEXEC), (pid_t)syscall(SYS_gettid), SIGRTMAX, 0};
  struct sigaction mine;
  memset(&mine, 0, sizeof mine);
  mine.sa_handler = on_signal;
  sigaction(waker.number, &mine, NULL);
  sender.event_fd = waker.event_fd;
  sender.count = count;
  sigset_t number, before;
  sigemptyset(&number);
  sigaddset(&number, waker.number);
  pthread_sigmask(SIG_BLOCK, &number, &before);
  pthread_t threads[2];
  if (pthread_create(&threads[0], NULL, wake, &waker) != 0 || pthread_create(&threads[1], NULL, send_wakes, NULL) != 0) fail("threads");
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  for (int i = 0; i < count; ++i) { /* computes */
    while (read_now(&was_handled) != i + 1) {
    }
    samples[i] = handled_at_us - sender.sent_us[i];
  }
  pthread_join(threads[1], NULL);
  __atomic_store_n(&waker.is_over, 1, __ATOMIC_RELEASE);
  const uint64_t one = 1;
  if (write(waker.event_fd, &one, sizeof one) < 0) fail("eventfd");
  pthread_join(threads[0], NULL);
  report_samples("raw_wake", -1, count);
}

static void costs(int count) {
  static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  double from = now_us();
  for (int i = 0; i < count; ++i) {
    gasnet_hold_interrupts();
    gasnet_resume_interrupts();
  }
  report_ns("hold_resume", now_us() - from, count);
  from = now_us();
  for (int i = 0; i < count; ++i) {
    gasnet_hsl_lock(&lock);
    gasnet_hsl_unlock(&lock);
  }
  report_ns("hsl", now_us() - from, count);
  from = now_us();
  for (int i = 0; i < count; ++i) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  report_ns("mutex", now_us() - from, count);
}

/* The share of a core that a rank uses which sleeps, outside GASNet. */
static void idle_cost(void) {
  const double from = now_us(), processor_from = processor_us();
  sleep(1);
  printf("{\"what\": \"idle\", \"share\": %.5f}\n", (processor_us() - processor_from) / (now_us() - from));
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{kAsk, (void (*)())on_ask}, {kAnswer, (void (*)())on_answer}, {kStop, (void (*)())on_stop}};
  if (gasnet_init(&argc, &argv) != GASNET_OK) return 1;
  if (gasnet_attach(table, 3, 0, 0) != GASNET_OK) gasnet_exit(1);
  const int count = argc > 1 ? atoi(argv[1]) : 0;
  if (gasnet_nodes() != 2 || count < 10 || count > kCountMax) {
    if (gasnet_mynode() == 0) fprintf(stderr, "dispatch COUNT BUSY_US...: two ranks, 10 to %d round trips\n", kCountMax);
    gasnet_exit(2);
  }
  barrier();
  if (gasnet_mynode() == 0) {
    costs(1000000);
    idle_cost();
  } else {
    sleep(2); /* outside GASNet: rank 0 has the machine for itself */
  }
  barrier();
  for (int i = 2; i < argc; ++i) round_trips(count, atoi(argv[i]));
  barrier();
  if (gasnet_mynode() == 0) {
    raw_wakes(count);
  } else {
    sleep(1);
  }
  fflush(stdout);
  barrier();
  gasnet_exit(0);
}
