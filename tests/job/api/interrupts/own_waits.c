/* PAR: threads that outnumber the cores, and wait by polls and tries of their own instead of the
 * library's waits (C1-165, C1-235): each gives its core away before long, or the thread that it
 * waits for waits for a time slice. Counted in polls, not in time: a slice is tens of thousands of
 * them. */
#include <pthread.h>
#include <sched.h>

#include "../job_test.h"

enum { kThreads = 4, kRounds = 50, kPollsPerWaitMax = 2000 };

static unsigned arrived[kThreads];
static unsigned long long polls[kThreads];

static void on_turn(gasnet_token_t token, int thread) {
  (void)token;
  __atomic_fetch_add(&arrived[thread], 1, __ATOMIC_RELEASE);
}

static void wait_for_turn(int thread, int round) {
  while (__atomic_load_n(&arrived[thread], __ATOMIC_ACQUIRE) <= (unsigned)round) {
    gasnet_AMPoll();
    ++polls[thread];
  }
}

/* By each kind of try. */
static void put_word(gasnet_node_t to, int thread, int round) {
  unsigned long long word = (unsigned)round;
  void *place = (char *)segments[to].addr + 64 * thread;
  if (round % 2 == 0) {
    gasnet_handle_t handle = gasnet_put_nb(to, place, &word, sizeof word);
    for (; gasnet_try_syncnb(handle) != GASNET_OK; ++polls[thread]) {
    }
  } else {
    gasnet_put_nbi(to, place, &word, sizeof word);
    for (; gasnet_try_syncnbi_all() != GASNET_OK; ++polls[thread]) {
    }
  }
}

static void *take_turns(void *argument) {
  const int thread = (int)(size_t)argument;
  const gasnet_node_t peer = me ^ 1;
  for (int round = 0; round < kRounds; ++round) {
    if (me != 0) wait_for_turn(thread, round);
    put_word(peer, thread, round);
    gasnet_AMRequestShort1(peer, 200, thread);
    if (me == 0) wait_for_turn(thread, round);
  }
  return NULL;
}

/* Both ranks on one core, so that a machine of many cores sees it, too. Before the library asks for
 * them. */
static void share_one_core(void) {
  cpu_set_t all, one;
  EXPECT(sched_getaffinity(0, sizeof all, &all) == 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
    if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
  }
  EXPECT(sched_setaffinity(0, sizeof one, &one) == 0);
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{200, (void (*)())on_turn}};
  share_one_core();
  start_job(&argc, &argv, table, 1, 1 << 20);
  EXPECT(nodes == 2);
  barrier();
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    EXPECT(pthread_create(&threads[i], NULL, take_turns, (void *)(size_t)i) == 0);
  }
  unsigned long long sum = 0;
  for (int i = 0; i < kThreads; ++i) {
    EXPECT(pthread_join(threads[i], NULL) == 0);
    sum += polls[i];
  }
  barrier();
  if (argc > 1)
    printf("rank %u: %llu polls a wait\n", (unsigned)me, sum / (2 * kThreads * kRounds));
  EXPECT(sum <= 2ull * kPollsPerWaitMax * kThreads * kRounds);
  end_job("own_waits");
  return 1;
}
