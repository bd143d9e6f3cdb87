/* pinwire_tools_time.h: a clock of nanoseconds that is cheap to read. Included by gasnet_tools.h only.
 *
 * A tick is a cycle of the time-stamp counter where the machine has one, else a nanosecond. Ticks are
 * to be compared within one process; legal anywhere. */
#ifndef PINWIRE_TOOLS_TIME_H
#define PINWIRE_TOOLS_TIME_H

GASNETT_BEGIN_EXTERNC

typedef uint64_t gasnett_tick_t;
#define GASNETT_TICK_MIN ((gasnett_tick_t)0)
#define GASNETT_TICK_MAX (~(gasnett_tick_t)0)

#if defined(__x86_64__)
static inline gasnett_tick_t gasnett_ticks_now(void) { return __builtin_ia32_rdtsc(); }
#else
gasnett_tick_t gasnett_ticks_now(void);
#endif

/* The first conversion of a process measures the tick for some 10 ms (GASNET_TSC_RATE says otherwise). */
uint64_t gasnett_ticks_to_ns(gasnett_tick_t ticks);
uint64_t gasnett_ticks_to_us(gasnett_tick_t ticks);

/* Microseconds: the least difference between two readings that differ, and what a reading costs. */
double gasnett_tick_granularityus(void);
double gasnett_tick_overheadus(void);

/* The time of day, as gettimeofday(2). */
uint64_t gasnett_gettimeofday_us(void);

/* Sleeps that long or longer and returns 0; non-zero, with errno EINTR, when a signal came. */
int gasnett_nsleep(uint64_t ns_delay);

#define gasneti_ticks_now() gasnett_ticks_now()
#define gasneti_ticks_to_ns(ticks) gasnett_ticks_to_ns(ticks)
#define gasneti_ticks_to_us(ticks) gasnett_ticks_to_us(ticks)

GASNETT_END_EXTERNC

#endif
