/* What one rank finds out by itself: the cost of sections, locks and idling, and the floor of an interrupt. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/dispatch/common.h"

static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static double hold_resume_ns(int count) {
  const double from = now_us();
  for (int i = 0; i < count; ++i) {
    gasnet_hold_interrupts();
    gasnet_resume_interrupts();
  }
  return 1e3 * (now_us() - from) / count;
}
static double hsl_ns(int count) {
  const double from = now_us();
  for (int i = 0; i < count; ++i) {
    gasnet_hsl_lock(&lock);
    gasnet_hsl_unlock(&lock);
  }
  return 1e3 * (now_us() - from) / count;
}
static double mutex_ns(int count) {
  const double from = now_us();
  for (int i = 0; i < count; ++i) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  return 1e3 * (now_us() - from) / count;
}

/* In turns: what disturbs the machine disturbs all three. */
void costs(int count) {
  enum { kTurns = 11 };
  static double hold_resume[kTurns], hsl[kTurns], plain[kTurns];
  for (int turn = 0; turn < kTurns; ++turn) {
    hold_resume[turn] = hold_resume_ns(count);
    hsl[turn] = hsl_ns(count);
    plain[turn] = mutex_ns(count);
  }
  report_ns("hold_resume", hold_resume, kTurns);
  report_ns("hsl", hsl, kTurns);
  report_ns("mutex", plain, kTurns);
}

/* The share of a core that a rank uses which sleeps, outside GASNet. */
void idle_cost(double seconds) {
  const double from = now_us(), processor_from = clock_us(CLOCK_PROCESS_CPUTIME_ID);
  while (now_us() < from + 1e6 * seconds) nap_us(from + 1e6 * seconds - now_us());
  printf("{\"what\": \"idle\", \"share\": %.5f}\n", (clock_us(CLOCK_PROCESS_CPUTIME_ID) - processor_from) / (now_us() - from));
}

/* The floor of an interrupt: eventfd, a thread that sleeps in epoll_wait, tgkill, a handler. */
static double handled_us[kCountMax];
static int was_handled;
static void on_signal(int number) {
  (void)number;
  handled_us[was_handled] = now_us();
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
} sender_t;
static sender_t sender;
static void *send_wakes(void *unused) {
  (void)unused;
  const uint64_t one = 1;
  for (int i = 0; i < sender.count; ++i) {
    compute_us(300 + i % 97);
    sender.sent_us[i] = now_us();
    if (write(sender.event_fd, &one, sizeof one) < 0) fail("eventfd");
    while (read_now(&was_handled) != i + 1) {
    }
  }
  return NULL;
}
void raw_wakes(int count) {
  static double samples[kCountMax];
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
  while (read_now(&was_handled) < count) { /* computes */
  }
  pthread_join(threads[1], NULL);
  for (int i = 0; i < count; ++i) samples[i] = handled_us[i] - sender.sent_us[i];
  __atomic_store_n(&waker.is_over, 1, __ATOMIC_RELEASE);
  const uint64_t one = 1;
  if (write(waker.event_fd, &one, sizeof one) < 0) fail("eventfd");
  pthread_join(threads[0], NULL);
  report_us("raw_wake", kNeverPolls, samples, count);
}
