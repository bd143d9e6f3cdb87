/* GASNet's tools: the clock, and sleep. */
#include <errno.h>
#include <time.h>

#include "../ex.h"

enum { kSleepNs = 20000000 };

static uint64_t system_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

CASE(declarations, "GX-172") {
  const gasnett_tick_t first = GASNETT_TICK_MIN, last = GASNETT_TICK_MAX;
  IS(gasnett_ticks_now(), gasnett_tick_t);
  IS(gasnett_ticks_to_ns(last), uint64_t);
  IS(gasnett_nsleep((uint64_t)1), int);
  EXPECT(first < last);
  EXPECT_EQ(gasnett_ticks_to_ns(0), 0);
}

CASE(ticks_do_not_go_back, "GX-172") {
  static volatile gasnett_tick_t least = GASNETT_TICK_MIN, largest = GASNETT_TICK_MAX;
  const gasnett_tick_t first = gasnett_ticks_now();
  gasnett_tick_t before = first;
  for (int i = 0; i < 100000; ++i) {
    const gasnett_tick_t now = gasnett_ticks_now();
    EXPECT(now >= before && now >= least && now <= largest);
    before = now;
  }
  EXPECT(before > first);
}

/* Readings around and inside those of the system's clock, but for what a tick's rate is uncertain
 * by. */
CASE(ticks_measure_time, "GX-172") {
  (void)gasnett_ticks_to_ns(1); /* which may want to measure first */
  const gasnett_tick_t outer_start = gasnett_ticks_now();
  const uint64_t start = system_ns();
  const gasnett_tick_t inner_start = gasnett_ticks_now();
  (void)gasnett_nsleep(kSleepNs);
  const gasnett_tick_t inner_end = gasnett_ticks_now();
  const uint64_t elapsed = system_ns() - start;
  const gasnett_tick_t outer_end = gasnett_ticks_now();
  EXPECT(gasnett_ticks_to_ns(inner_end - inner_start) <= elapsed + elapsed / 20);
  EXPECT(gasnett_ticks_to_ns(outer_end - outer_start) >= elapsed - elapsed / 20);
  /* A larger number of ticks is in proportion. */
  const uint64_t once = gasnett_ticks_to_ns(1000000000000),
                 more = gasnett_ticks_to_ns(3000000000000);
  EXPECT(more >= 3 * once - 10 && more <= 3 * once + 10);
}

CASE(sleep_is_long_enough, "GX-172") {
  static const uint64_t times[] = {0, 1, 1000, 1000000, 5000000};
  for (int i = 0; i < 5; ++i) {
    uint64_t start;
    int result;
    do { /* a signal, as a dispatcher may send, ends it early */
      errno = 0;
      start = system_ns();
      result = gasnett_nsleep(times[i]);
    } while (result != 0 && errno == EINTR);
    EXPECT_EQ(result, 0);
    EXPECT(system_ns() - start >= times[i]);
  }
}
