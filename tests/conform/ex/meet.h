/* Two threads that run the same rounds. One that is made after the other may find it gone: so they
 * meet now and then, and run at once where there is more than one CPU. */
#ifndef PINWIRE_CONFORM_MEET_H
#define PINWIRE_CONFORM_MEET_H

#include "ex.h"

static _Atomic int met;

/* Before the threads are made. */
static inline void begin_meetings(void) { met = 0; }

/* In each round: waits, in every `each`th, for the other thread. */
static inline void meet(int round, int each) {
  if (round % each != 0) return;
  const int due = ++met + 1;
  for (int spins = 1; met < due / 2 * 2; ++spins)
    if (spins % 20000 == 0) gasnett_sched_yield();
}

#endif
