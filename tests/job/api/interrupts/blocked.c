/* Rank 0 is blocked in a function of the C library, or blocks its signals and computes, for longer than its peer waits for
 * an answer; the last message ends that (PA-050). For GASNET_DISPATCH=interrupt and watchdog. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "../job_test.h"

enum { kMessages = 100, kBlockedS = 30 };

static int handled, answered, is_over;
static int pipe_fds[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;

static void on_request(gasnet_token_t token, int is_last) {
  void *memory = malloc(100);
  __atomic_fetch_add(&handled, 1, __ATOMIC_RELEASE);
  if (is_last) {
    EXPECT(write(pipe_fds[1], memory, 1) == 1);
    pthread_mutex_lock(&mutex);
    is_over = 1;
    pthread_cond_signal(&ended);
    pthread_mutex_unlock(&mutex);
  }
  free(memory);
  gasnet_AMReplyShort0(token, 201);
}
static void on_answer(gasnet_token_t token) {
  (void)token;
  __atomic_fetch_add(&answered, 1, __ATOMIC_RELEASE);
}

static struct timespec in_s(clockid_t clock, time_t seconds) {
  struct timespec at;
  clock_gettime(clock, &at);
  at.tv_sec += seconds;
  return at;
}
/* A signal ends a nap early (signal(7)), and may come just before. Handlers that waited for the end of each would take
 * far longer than there is time. */
static void sleep_until_handled(int wanted) {
  const struct timespec until = in_s(CLOCK_MONOTONIC, kBlockedS), nap = {0, 500000000};
  while (read_now(&handled) < wanted) {
    EXPECT(in_s(CLOCK_MONOTONIC, 0).tv_sec < until.tv_sec);
    if (nanosleep(&nap, NULL) != 0) EXPECT_EQ(errno, EINTR);
  }
}
static void read_until_the_end(void) {
  char byte;
  EXPECT_EQ(read(pipe_fds[0], &byte, 1), 1);
}
static void wait_until_the_end(void) {
  const struct timespec until = in_s(CLOCK_REALTIME, kBlockedS);
  EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
  while (!is_over) EXPECT_EQ(pthread_cond_timedwait(&ended, &mutex, &until), 0);
  is_over = 0;
  EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
}

/* It is the only thread of the client's, and no signal reaches it. */
static void compute_until_handled(int wanted) {
  const struct timespec until = in_s(CLOCK_MONOTONIC, kBlockedS);
  while (read_now(&handled) < wanted) EXPECT(in_s(CLOCK_MONOTONIC, 0).tv_sec < until.tv_sec);
}
static void compute_without_signals(int wanted) {
  sigset_t all, before;
  sigfillset(&all);
  EXPECT_EQ(pthread_sigmask(SIG_BLOCK, &all, &before), 0);
  compute_until_handled(wanted);
  EXPECT_EQ(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
}
/* It polls between two messages: which must not make each wait until the signal for it has been in vain. */
static void compute_and_poll_without_signals(int before, int messages) {
  sigset_t all, usual;
  sigfillset(&all);
  EXPECT_EQ(pthread_sigmask(SIG_BLOCK, &all, &usual), 0);
  const uint64_t again_before = statistic("dispatch.asks_again");
  for (int i = 1; i <= messages; ++i) {
    compute_until_handled(before + i);
    gasnet_AMPoll();
  }
  EXPECT(statistic("dispatch.asks_again") - again_before <= (uint64_t)messages / 4);
  EXPECT_EQ(pthread_sigmask(SIG_SETMASK, &usual, NULL), 0);
}
static int wanted_in_handler;
static void on_own_signal(int number) {
  (void)number;
  compute_until_handled(wanted_in_handler);
}
static void compute_in_a_signal_handler(int wanted) {
  struct sigaction own = {.sa_handler = on_own_signal};
  sigfillset(&own.sa_mask);
  EXPECT_EQ(sigaction(SIGUSR1, &own, NULL), 0);
  wanted_in_handler = wanted;
  EXPECT_EQ(raise(SIGUSR1), 0);
}

static void ask(int messages) {
  static int asked;
  for (int i = 1; i <= messages; ++i) {
    gasnet_AMRequestShort1(0, 200, i == messages);
    ++asked;
    GASNET_BLOCKUNTIL(read_now(&answered) == asked);
  }
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{200, (void (*)())on_request}, {201, (void (*)())on_answer}};
  start_job(&argc, &argv, table, 2, GASNET_PAGESIZE);
  EXPECT(pipe(pipe_fds) == 0);
  barrier();
  if (me == 1) ask(kMessages);
  if (me == 0) read_until_the_end();
  if (me == 0) wait_until_the_end();
  barrier();
  if (me == 1) ask(kMessages);
  if (me == 0) wait_until_the_end();
  if (me == 0) read_until_the_end();
  barrier();
  if (me == 1) ask(kMessages);
  if (me == 0) sleep_until_handled(3 * kMessages);
  barrier();
  if (me == 1) ask(kMessages);
  if (me == 0) compute_without_signals(4 * kMessages);
  barrier();
  if (me == 1) ask(kMessages);
  if (me == 0) compute_in_a_signal_handler(5 * kMessages);
  barrier();
  if (me == 1) ask(kMessages);
  if (me == 0) compute_and_poll_without_signals(5 * kMessages, kMessages);
  barrier();
  end_job("blocked");
  return 1;
}
