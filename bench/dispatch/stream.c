/* Many messages: how many a second a rank takes, and what they cost the computation that they interrupt. */
#include <stdio.h>

#include "bench/dispatch/common.h"

/* Batches, the last message of each answered: rank 1 waits inside GASNet, or computes and never polls. */
void throughput(int busy_us, double seconds) {
  enum { kBatch = 256 };
  const int stops_before = read_now(&news[kStop]);
  barrier();
  if (gasnet_mynode() == 1) {
    while (busy_us == kNeverPolls && read_now(&news[kStop]) == stops_before) {
    }
    GASNET_BLOCKUNTIL(read_now(&news[kStop]) != stops_before);
  } else {
    long sent = 0;
    const double from = now_us();
    while (now_us() < from + 1e6 * seconds) {
      const int before = read_now(&answered);
      for (int i = 1; i < kBatch; ++i) gasnet_AMRequestShort0(1, kFlood);
      gasnet_AMRequestShort0(1, kAsk);
      GASNET_BLOCKUNTIL(read_now(&answered) == before + 1);
      sent += kBatch;
    }
    printf("{\"what\": \"throughput\", \"busy_us\": %d, \"count\": %ld, \"messages_per_s\": %.0f}\n", busy_us, sent,
           1e6 * (double)sent / (now_us() - from));
    tell(kStop);
  }
  barrier();
}

/* About a microsecond of what a client computes. */
static void compute_unit(void) {
  static volatile uint32_t result;
  uint32_t number = result;
  for (int i = 0; i < 1000; ++i) number = 1664525 * number + 1013904223;
  result = number;
}
static double time_of(long units, int polls) {
  enum { kUnitsBetweenPolls = 100 };
  const double from = now_us();
  for (long i = 0; i < units; ++i) {
    if (polls && i % kUnitsBetweenPolls == 0) gasnet_AMPoll();
    compute_unit();
  }
  return now_us() - from;
}

/* Rank 1 does the same work in peace and while rank 0 sends to it, in turns; what is left is lost. */
static void work_and_report(int polls, double seconds) {
  enum { kTurns = 9, kMessagesMin = 5 };
  static double lost_us[kTurns];
  long units = 100;
  while (time_of(units, polls) < 1e6 * seconds / (2 * kTurns)) units += units / 4;
  int messages = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    const double in_peace_us = time_of(units, polls);
    tell(kBegin);
    const int before = read_now(&asked);
    double extra_us = 0;
    do {
      extra_us += time_of(units, polls) - in_peace_us;
    } while (read_now(&asked) < before + kMessagesMin);
    const int handled = read_now(&asked) - before;
    tell(kEnd);
    lost_us[turn] = extra_us / handled;
    messages += handled;
    GASNET_BLOCKUNTIL(read_now(&news[kEnd]) == turn + 1); /* rank 0 sends no more */
  }
  report_us("lost", polls ? 100 : kNeverPolls, lost_us, kTurns);
  tell(kStop);
}
static void disturb(void) {
  int turns = 0;
  for (;;) {
    GASNET_BLOCKUNTIL(read_now(&news[kBegin]) > turns || read_now(&news[kStop]) != 0);
    if (read_now(&news[kStop]) != 0) return;
    ++turns;
    while (read_now(&news[kEnd]) < turns) {
      compute_us(100);
      ask();
    }
    tell(kEnd);
  }
}
void lost_time(int polls, double seconds) {
  barrier();
  if (gasnet_mynode() == 0) {
    disturb();
  } else {
    work_and_report(polls, seconds);
    fflush(stdout);
  }
  barrier();
}
