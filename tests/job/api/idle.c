/* A job in which nothing happens costs next to nothing: the dispatcher sleeps, and asks no client
 * thread to look. For any GASNET_DISPATCH; that of nicproc never sleeps, and asks nobody all the
 * same. idle [MILLISECONDS [SHARE]]: one part of a core in SHARE at most (200) */
#include <sys/resource.h>
#include <time.h>

#include "job_test.h"

enum { kIdleMs = 2000, kSettleMs = 100, kShare = 200, kWakesPerS = 50 };

static void sleep_ms(int ms) {
  const struct timespec pause = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&pause, NULL);
}

/* CPU time of all threads of this process. */
static long long cpu_us(void) {
  struct rusage used;
  EXPECT(getrusage(RUSAGE_SELF, &used) == 0);
  return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000LL + used.ru_utime.tv_usec +
         used.ru_stime.tv_usec;
}

static uint64_t count_of(const char *name) {
  uint64_t value = 0;
  (void)find_statistic(name, &value); /* none in GASNET_DISPATCH=poll */
  return value;
}

int main(int argc, char **argv) {
  start_job(&argc, &argv, NULL, 0, 1 << 20);
  const int idle_ms = argc > 1 ? atoi(argv[1]) : kIdleMs;
  const int share = argc > 2 ? atoi(argv[2]) : kShare;
  barrier();
  sleep_ms(kSettleMs); /* what the barrier left behind: acknowledgements */
  const uint64_t asks = count_of("dispatch.asks"), wakes = count_of("dispatch.wakes");
  const long long before_us = cpu_us();
  sleep_ms(idle_ms);
  const long long used_us = cpu_us() - before_us;
  const uint64_t asked = count_of("dispatch.asks") - asks,
                 woke = count_of("dispatch.wakes") - wakes;
  printf("rank %u: %lld us of CPU in %d ms, %llu asks, %llu wakes\n", (unsigned)me, used_us,
         idle_ms, (unsigned long long)asked, (unsigned long long)woke);
  EXPECT_EQ(asked, 0);
  const char *dispatch = getenv("GASNET_DISPATCH");
  if (dispatch == NULL || strcmp(dispatch, "nicproc") != 0) {
    EXPECT(woke <= (uint64_t)idle_ms * kWakesPerS / 1000);
    EXPECT(used_us <= idle_ms * 1000LL / share);
  }
  end_job("idle");
  return 1;
}
