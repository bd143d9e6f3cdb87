/* A job in which nothing happens costs next to nothing: the dispatcher sleeps, and asks no client
 * thread to look. For any GASNET_DISPATCH; that of nicproc never sleeps, and asks nobody all the
 * same. idle [MILLISECONDS [SHARE]]: one part of a core in SHARE at most (200)
 *
 * The cost of a wake is the machine's: some 20 us, or 500 on a virtual one whose host is busy. The
 * client's thread therefore wakes as often as the dispatcher does, and what that cost is allowed,
 * too. */
#include <sys/resource.h>
#include <time.h>

#include "../job_test.h"

enum { kIdleMs = 2000, kSettleMs = 100, kNapMs = 100, kShare = 200, kWakesPerS = 50 };

static void sleep_ms(int ms) {
  const struct timespec pause = {ms / 1000, ms % 1000 * 1000000L};
  nanosleep(&pause, NULL);
}

struct Usage {
  long long cpu_us, sleeps;
};

/* RUSAGE_SELF: of all threads of this process. */
static struct Usage usage_of(int who) {
  struct rusage used;
  EXPECT(getrusage(who, &used) == 0);
  return (struct Usage){(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000LL +
                            used.ru_utime.tv_usec + used.ru_stime.tv_usec,
                        used.ru_nvcsw};
}
static struct Usage used_since(int who, struct Usage before) {
  const struct Usage now = usage_of(who);
  return (struct Usage){now.cpu_us - before.cpu_us, now.sleeps - before.sleeps};
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
  const struct Usage all_before = usage_of(RUSAGE_SELF), own_before = usage_of(RUSAGE_THREAD);
  for (int slept_ms = 0; slept_ms < idle_ms; slept_ms += kNapMs) sleep_ms(kNapMs);
  const struct Usage all = used_since(RUSAGE_SELF, all_before),
                     own = used_since(RUSAGE_THREAD, own_before);
  const uint64_t asked = count_of("dispatch.asks") - asks,
                 woke = count_of("dispatch.wakes") - wakes;
  printf(
      "rank %u: %lld us of CPU in %d ms, %lld of them this thread's; %lld sleeps, %llu asks, "
      "%llu wakes\n",
      (unsigned)me, all.cpu_us, idle_ms, own.cpu_us, all.sleeps, (unsigned long long)asked,
      (unsigned long long)woke);
  EXPECT_EQ(asked, 0);
  const char *dispatch = getenv("GASNET_DISPATCH");
  if (dispatch == NULL || strcmp(dispatch, "nicproc") != 0) {
    const long long wakes_max = (long long)idle_ms * kWakesPerS / 1000;
    EXPECT(woke <= (uint64_t)wakes_max);
    EXPECT(all.sleeps - own.sleeps <= wakes_max);
    EXPECT(all.cpu_us - own.cpu_us <= idle_ms * 1000LL / share + own.cpu_us);
  }
  end_job("idle");
  return 1;
}
