/* Shared by the parts of bench/dispatch: clocks, messages that are counted, samples that are reported. */
#ifndef PINWIRE_BENCH_DISPATCH_COMMON_H
#define PINWIRE_BENCH_DISPATCH_COMMON_H

#include <time.h>

#include "gasnet.h"

enum { kAsk = 201, kAnswer, kFlood, kTell, kInvite };
/* The words of kTell. */
enum { kStop, kBegin, kEnd, kInvited, kNewsMax };
/* The work of a receiver, beside the microseconds that it computes between two polls. */
enum { kWaits = 0, kNeverPolls = -1, kSleeps = -2 };
enum { kCountMax = 1000000 };

static inline double clock_us(clockid_t which) {
  struct timespec at;
  clock_gettime(which, &at);
  return 1e6 * (double)at.tv_sec + 1e-3 * (double)at.tv_nsec;
}
static inline double now_us(void) { return clock_us(CLOCK_MONOTONIC); }
static inline void compute_us(double us) {
  const double until = now_us() + us;
  while (now_us() < until) {
  }
}
/* Signals may cut it short. */
static inline void nap_us(double us) {
  struct timespec wanted = {(time_t)(us / 1e6), (long)(1e3 * us) % 1000000000l};
  nanosleep(&wanted, NULL);
}

static inline int read_now(int *word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
static inline int add_one(int *word) { return __atomic_add_fetch(word, 1, __ATOMIC_RELEASE); }

extern int asked, answered, news[kNewsMax]; /* handlers count */
extern double asked_at_us;                  /* the last request: when its handler ran, on the peer, which shares this clock */
void barrier(void);
void tell(int what); /* the other rank */
void ask(void);      /* rank 1, and waits for the answer */
void fail(const char *what);

/* Sorts them. Rows of JSON, one a line. */
void report_us(const char *what, int busy_us, double *samples, int count);
void report_ns(const char *what, double *samples, int count);

/* alone.c: what needs no peer; the other rank is out of the way. */
void costs(int count);
void idle_cost(double seconds);
/* raw_wake.c: rank 0 alone; both ranks. */
void raw_wakes(int count);
void raw_wakes_across(int count);
void on_invite(gasnet_token_t token, gasnet_handlerarg_t process, gasnet_handlerarg_t memory, gasnet_handlerarg_t pipe_end);
/* stream.c: both ranks call them. */
void throughput(int busy_us, double seconds);
void lost_time(int polls, double seconds);

#endif
