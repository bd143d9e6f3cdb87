#include "bench/dispatch/common.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int asked, answered, news[kNewsMax];
double asked_at_us;

void barrier(void) {
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS);
}

void tell(int what) { gasnet_AMRequestShort1(1 - gasnet_mynode(), kTell, what); }

void ask(void) {
  const int before = read_now(&answered);
  gasnet_AMRequestShort0(1, kAsk);
  GASNET_BLOCKUNTIL(read_now(&answered) == before + 1);
}

void fail(const char *what) {
  fprintf(stderr, "dispatch: %s: %s\n", what, strerror(errno));
  gasnet_exit(1);
}

static int compare(const void *a, const void *b) {
  const double left = *(const double *)a, right = *(const double *)b;
  return left < right ? -1 : left > right;
}

void report_us(const char *what, int busy_us, double *samples, int count) {
  qsort(samples, (size_t)count, sizeof samples[0], compare);
  printf("{\"what\": \"%s\", \"busy_us\": %d, \"count\": %d, \"median_us\": %.3f, \"p10_us\": %.3f, \"p90_us\": %.3f}\n", what,
         busy_us, count, samples[count / 2], samples[count / 10], samples[count * 9 / 10]);
}

void report_ns(const char *what, double *samples, int count) {
  qsort(samples, (size_t)count, sizeof samples[0], compare);
  printf("{\"what\": \"%s\", \"count\": %d, \"ns\": %.2f, \"p10_ns\": %.2f, \"p90_ns\": %.2f}\n", what, count, samples[count / 2],
         samples[count / 10], samples[count * 9 / 10]);
}
