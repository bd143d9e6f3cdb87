/* PAR: threads begin, call the library once, compute and end, while messages interrupt them at any point of their end
 * (PA-052). For GASNET_DISPATCH=interrupt and watchdog. */
#include <pthread.h>
#include <time.h>

#include "../job_test.h"

enum { kThreads = 4, kTurns = 1500 };

static int handled, is_over;

static void on_message(gasnet_token_t token) {
  (void)token;
  __atomic_fetch_add(&handled, 1, __ATOMIC_RELEASE);
}
static void on_end(gasnet_token_t token) {
  (void)token;
  __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
}

static void *live(void *argument) {
  gasnet_AMPoll();
  for (volatile int i = 0; i < 20000; i = i + 1) {
  }
  return argument;
}

static void begin_and_end_threads(void) {
  for (int turn = 0; turn < kTurns; ++turn) {
    pthread_t threads[kThreads];
    for (int i = 0; i < kThreads; ++i) EXPECT(pthread_create(&threads[i], NULL, live, NULL) == 0);
    for (int i = 0; i < kThreads; ++i) EXPECT(pthread_join(threads[i], NULL) == 0);
  }
  for (gasnet_node_t to = 1; to < nodes; ++to) gasnet_AMRequestShort0(to, 201);
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{200, (void (*)())on_message}, {201, (void (*)())on_end}};
  start_job(&argc, &argv, table, 2, 1 << 20);
  barrier();
  if (me == 0) {
    begin_and_end_threads();
    EXPECT(read_now(&handled) > 0);
  }
  const struct timespec pause = {0, 20000};
  while (me != 0 && !read_now(&is_over)) {
    gasnet_AMRequestShort0(0, 200);
    nanosleep(&pause, NULL);
  }
  barrier();
  end_job("interrupted_ends");
  return 1;
}
