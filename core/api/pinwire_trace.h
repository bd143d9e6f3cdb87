/* pinwire_trace.h: the calls with which a client writes into the trace and the statistics of its job, and
 * chooses what is recorded; see GASNET_TRACEFILE. A mask that is set after gasnet_attach cannot add G, P and D for
 * puts and gets that are inlined, which those inside a host are if none of the three was in a mask before. Without a file they cost a load and a branch, or a call that
 * returns. Included by gasnet_tools.h, in programs that included gasnet.h first. */
#ifndef PINWIRE_TRACE_H
#define PINWIRE_TRACE_H

GASNETT_BEGIN_EXTERNC

/* The letters that are written to the trace file now: letter 'A' + n is bit n. The library's, to be read only. */
extern uint32_t pinwire_traced_letters;

GASNETT_FORMAT_PRINTF(pinwire_trace_printf, 1, 2, extern void pinwire_trace_printf(const char *format, ...));
GASNETT_FORMAT_PRINTF(pinwire_trace_printf_force, 1, 2, extern void pinwire_trace_printf_force(const char *format, ...));
GASNETT_FORMAT_PRINTF(pinwire_stats_printf, 1, 2, extern void pinwire_stats_printf(const char *format, ...));
GASNETT_FORMAT_PRINTF(pinwire_stats_printf_force, 1, 2, extern void pinwire_stats_printf_force(const char *format, ...));
extern const char *pinwire_trace_mask(void);
extern const char *pinwire_stats_mask(void);
extern void pinwire_set_trace_mask(const char *mask);
extern void pinwire_set_stats_mask(const char *mask);
extern int pinwire_trace_local(void);
extern void pinwire_set_trace_local(int is_on);
extern void pinwire_set_source_line(const char *file, unsigned line);
extern void pinwire_get_source_line(const char **file, unsigned *line);
extern void pinwire_freeze_source_line(int by);
extern int pinwire_stats_init(void (*callback)(void (*print)(const char *format, ...)));
extern void pinwire_stats_dump(int is_reset);

static inline int _pinwire_traces(char letter) {
  return (int)(__atomic_load_n(&pinwire_traced_letters, __ATOMIC_RELAXED) >> (letter - 'A') & 1u);
}

#define GASNETT_TRACE_ENABLED _pinwire_traces('H')
#define GASNETT_TRACE_PRINTF pinwire_trace_printf
#define GASNETT_TRACE_PRINTF_FORCE pinwire_trace_printf_force
#define GASNETT_TRACE_GETMASK() pinwire_trace_mask()
#define GASNETT_TRACE_SETMASK(mask) pinwire_set_trace_mask(mask)
#define GASNETT_TRACE_GET_TRACELOCAL() pinwire_trace_local()
#define GASNETT_TRACE_SET_TRACELOCAL(is_on) pinwire_set_trace_local(is_on)
/* The line of the client that the calling thread is at: a prefix of all that it traces, while N is traced. */
#define GASNETT_TRACE_SETSOURCELINE(file, line) \
  (_pinwire_traces('N') ? pinwire_set_source_line((file), (line)) : (void)0)
#define GASNETT_TRACE_GETSOURCELINE(file, line) pinwire_get_source_line((file), (line))
#define GASNETT_TRACE_FREEZESOURCELINE() pinwire_freeze_source_line(1)
#define GASNETT_TRACE_UNFREEZESOURCELINE() pinwire_freeze_source_line(-1)
/* `callback` is called before statistics are written, to print the client's own; 1 if they will be. */
#define GASNETT_STATS_INIT(callback) pinwire_stats_init(callback)
#define GASNETT_STATS_PRINTF pinwire_stats_printf
#define GASNETT_STATS_PRINTF_FORCE pinwire_stats_printf_force
#define GASNETT_STATS_GETMASK() pinwire_stats_mask()
#define GASNETT_STATS_SETMASK(mask) pinwire_set_stats_mask(mask)
#define GASNETT_STATS_DUMP(is_reset) pinwire_stats_dump(is_reset)

GASNETT_END_EXTERNC

#endif
