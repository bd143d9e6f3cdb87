/* Measures that one rank makes by itself: the cost of sections, locks and idling. */
#include <pthread.h>
#include <stdio.h>

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
