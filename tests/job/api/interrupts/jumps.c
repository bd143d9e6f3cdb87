/* A client whose signal handler leaves by siglongjmp() what it interrupts, as interpreters and
 * programs with time-outs do. The client computes then, and calls nothing; but messages interrupt
 * it, too, and no handler of a message may be left half way (PA-052). After each jump the client
 * polls and sends, its thread can be cancelled as before, and it blocks no more signals. For
 * GASNET_DISPATCH=interrupt and watchdog. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include "../job_test.h"

enum { kJumps = 5000, kTickUs = 100, kStepsOfHandler = 10000, kAhead = 100 };

static sigjmp_buf back;
static volatile sig_atomic_t may_jump, over;
static int handled, answers;

/* Long enough that many signals of the client's come meanwhile. */
static void on_message(gasnet_token_t token) {
  for (volatile int i = 0; i < kStepsOfHandler; i = i + 1) {
  }
  __atomic_fetch_add(&handled, 1, __ATOMIC_RELEASE);
  gasnet_AMReplyShort0(token, 201);
}
static void on_answer(gasnet_token_t token) {
  (void)token;
  __atomic_fetch_add(&answers, 1, __ATOMIC_RELEASE);
}
static void on_end(gasnet_token_t token) {
  (void)token;
  over = 1;
}

static void on_tick(int number) {
  (void)number;
  if (!may_jump) return;
  may_jump = 0;
  siglongjmp(back, 1);
}

static void start_ticks(void) {
  const struct sigaction ticks = {.sa_handler = on_tick};
  EXPECT(sigaction(SIGALRM, &ticks, NULL) == 0);
  const struct itimerval often = {{0, kTickUs}, {0, kTickUs}};
  EXPECT(setitimer(ITIMER_REAL, &often, NULL) == 0);
}
static void stop_ticks(void) {
  const struct itimerval never = {{0, 0}, {0, 0}};
  EXPECT(setitimer(ITIMER_REAL, &never, NULL) == 0);
}

/* Returns by a jump alone. */
static void compute_until_a_jump(void) {
  if (sigsetjmp(back, 1) != 0) return;
  may_jump = 1;
  for (volatile int i = 0;; i = i + 1) {
  }
}

static void compute_and_jump(void) {
  sigset_t before, after;
  EXPECT(pthread_sigmask(SIG_SETMASK, NULL, &before) == 0);
  start_ticks();
  for (int jump = 0; jump < kJumps; ++jump) {
    compute_until_a_jump();
    if (jump % 16 == 0) gasnet_AMPoll();
  }
  stop_ticks();
  EXPECT(pthread_sigmask(SIG_SETMASK, NULL, &after) == 0);
  for (int number = 1; number < SIGRTMAX; ++number)
    EXPECT_EQ(sigismember(&after, number), sigismember(&before, number));
  int state;
  EXPECT(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state) == 0);
  EXPECT_EQ(state, PTHREAD_CANCEL_ENABLE);
}

/* Each has its answer, in the end. */
static void send_until_told(void) {
  int sent = 0;
  while (!over) {
    gasnet_AMRequestShort0(0, 200);
    ++sent;
    GASNET_BLOCKUNTIL(over || read_now(&answers) > sent - kAhead);
  }
  GASNET_BLOCKUNTIL(read_now(&answers) == sent);
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{200, (void (*)())on_message}, {201, (void (*)())on_answer}, {202, (void (*)())on_end}};
  start_job(&argc, &argv, table, 3, 1 << 20);
  barrier();
  if (me == 0) {
    compute_and_jump();
    EXPECT(read_now(&handled) > 0);
    for (gasnet_node_t to = 1; to < nodes; ++to) gasnet_AMRequestShort0(to, 202);
  } else {
    send_until_told();
  }
  end_job("jumps");
  return 1;
}
