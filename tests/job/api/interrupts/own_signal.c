/* A client that takes a real-time signal for itself after attach, the very one by which the library
 * interrupts it: messages go on coming while it computes, and its own handler gets no signal that
 * nobody of its own sent (PA-052). */
#include <signal.h>
#include <time.h>

#include "../job_test.h"

enum { kMessages = 200, kPatienceS = 60 };

static int handled, own_signals;

static void on_message(gasnet_token_t token) {
  (void)token;
  __atomic_fetch_add(&handled, 1, __ATOMIC_RELEASE);
}
static void on_own_signal(int number) {
  (void)number;
  __atomic_fetch_add(&own_signals, 1, __ATOMIC_RELEASE);
}

/* All that the library has: one. */
static void take_signal_of_library(void) {
  int taken = 0;
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) {
    struct sigaction now, mine = {.sa_handler = on_own_signal};
    EXPECT(sigaction(number, NULL, &now) == 0);
    if (now.sa_handler == SIG_DFL || now.sa_handler == on_own_signal) continue;
    EXPECT(sigaction(number, &mine, NULL) == 0);
    ++taken;
  }
  EXPECT_EQ(taken, 1);
}

static void compute_until_handled(int wanted) {
  const time_t until = time(NULL) + kPatienceS;
  while (read_now(&handled) < wanted) EXPECT(time(NULL) < until);
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{200, (void (*)())on_message}};
  start_job(&argc, &argv, table, 1, 1 << 20);
  for (int turn = 1; turn <= 3; ++turn) {
    if (me == 0) take_signal_of_library();
    barrier();
    const struct timespec pause = {0, 100000};
    for (int i = 0; me == 1 && i < kMessages; ++i) {
      gasnet_AMRequestShort0(0, 200);
      nanosleep(&pause, NULL);
    }
    if (me == 0) compute_until_handled(turn * kMessages);
    barrier();
  }
  EXPECT_EQ(own_signals, 0);
  end_job("own_signal");
  return 1;
}
