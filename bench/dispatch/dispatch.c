/* Measures the costs and the use of a dispatch mode, for bench/dispatch/dispatch.py: a rank that answers Short AMs
 * while it computes for so many microseconds between two polls, waits inside GASNet, computes and never polls, or
 * sleeps; the rate at which it takes them, and what they cost its computation; the raw wake of a thread that signals
 * another on the same machine, by a thread beside it and by another process; sections and locks. Two ranks of one host;
 * one JSON object a line.
 *
 * dispatch COUNT SECONDS BUSY_US...   of each kind at most COUNT round trips, or SECONDS (but 10 of them);
 * BUSY_US: 0 waits inside GASNet, -1 never polls, -2 sleeps */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/dispatch/common.h"

static void on_ask(gasnet_token_t token) {
  const double at_us = now_us();
  gasnet_handlerarg_t halves[2];
  memcpy(halves, &at_us, sizeof halves);
  add_one(&asked);
  gasnet_AMReplyShort2(token, kAnswer, halves[0], halves[1]);
}
static void on_answer(gasnet_token_t token, gasnet_handlerarg_t first, gasnet_handlerarg_t second) {
  (void)token;
  const gasnet_handlerarg_t halves[2] = {first, second};
  memcpy(&asked_at_us, halves, sizeof asked_at_us);
  add_one(&answered);
}
static void on_flood(gasnet_token_t token) { (void)token; }
static void on_tell(gasnet_token_t token, gasnet_handlerarg_t what) {
  (void)token;
  add_one(&news[what]);
}

/* Round trips with pauses between them, so that who sleeps sleeps again, and as long as the receiver may compute at random,
 * so that a request comes at any time of that. */
static void ask_and_report(int count, double seconds, int busy_us) {
  enum { kCountMin = 10 };
  static double round_trips[kCountMax], one_ways[kCountMax];
  const double until = now_us() + 1e6 * seconds;
  const double spread_us = busy_us > 97 ? busy_us : 97;
  int done = 0;
  while (done < count && (done < kCountMin || now_us() < until)) {
    compute_us(300 + spread_us * rand() / RAND_MAX);
    const double from = now_us();
    ask();
    round_trips[done] = now_us() - from;
    one_ways[done] = asked_at_us - from;
    ++done;
  }
  report_us("round_trip", busy_us, round_trips, done);
  report_us("one_way", busy_us, one_ways, done);
  tell(kStop);
}
static void answer(int busy_us) {
  const int before = read_now(&news[kStop]);
  if (busy_us == kWaits) {
    GASNET_BLOCKUNTIL(read_now(&news[kStop]) != before);
    return;
  }
  while (read_now(&news[kStop]) == before) {
    if (busy_us == kNeverPolls) continue;
    if (busy_us == kSleeps) {
      nap_us(10000);
      continue;
    }
    compute_us(busy_us);
    gasnet_AMPoll();
  }
}
static void round_trips(int count, double seconds, int busy_us) {
  barrier();
  if (gasnet_mynode() == 0) {
    ask_and_report(count, seconds, busy_us);
  } else {
    answer(busy_us);
  }
  barrier();
}

static void alone(int count, double seconds) {
  barrier();
  if (gasnet_mynode() == 0) {
    costs(seconds < 0.5 ? 1000 : 100000);
    idle_cost(seconds);
    raw_wakes(count);
    tell(kBegin);
  } else {
    while (read_now(&news[kBegin]) == 0) { /* rank 0 has the machine for itself */
      nap_us(1000);
      gasnet_AMPoll();
    }
  }
  barrier();
  raw_wakes_across(count);
  barrier();
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {
      {kAsk, (void (*)())on_ask}, {kAnswer, (void (*)())on_answer}, {kFlood, (void (*)())on_flood}, {kTell, (void (*)())on_tell},
                                    {kInvite, (void (*)())on_invite}};
  if (gasnet_init(&argc, &argv) != GASNET_OK) return 1;
  if (gasnet_attach(table, 5, 0, 0) != GASNET_OK) gasnet_exit(1);
  const int count = argc > 2 ? atoi(argv[1]) : 0;
  const double seconds = argc > 2 ? atof(argv[2]) : 0;
  if (gasnet_nodes() != 2 || count < 10 || count > kCountMax || !(seconds > 0)) {
    if (gasnet_mynode() == 0) fprintf(stderr, "dispatch COUNT SECONDS BUSY_US...: two ranks, 10 to %d round trips\n", kCountMax);
    gasnet_exit(2);
  }
  int is_served = 0; /* without a poll */
  for (int i = 3; i < argc; ++i) is_served = is_served || atoi(argv[i]) == kNeverPolls;
  lost_time(!is_served, seconds);
  throughput(kWaits, seconds / 4);
  if (is_served) throughput(kNeverPolls, seconds / 4);
  for (int i = 3; i < argc; ++i) round_trips(count, seconds, atoi(argv[i]));
  alone(count < 1000 ? count : 1000, seconds);
  fflush(stdout);
  barrier();
  gasnet_exit(0);
}
