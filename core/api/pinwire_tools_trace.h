/* pinwire_tools_trace.h: the calls with which a client writes into a trace or a statistics file. Where gasnet.h
 * was not included first there is no job to trace, and they write nothing: GASNETT_TRACE_ENABLED is 0, arguments are
 * checked and dropped. Included by gasnet_tools.h only. */
#ifndef PINWIRE_TOOLS_TRACE_H
#define PINWIRE_TOOLS_TRACE_H

GASNETT_BEGIN_EXTERNC

GASNETT_FORMAT_PRINTF(_gasnett_trace_printf_noop, 1, 2,
                      static inline void _gasnett_trace_printf_noop(const char *format, ...));
static inline void _gasnett_trace_printf_noop(const char *format, ...) { (void)format; }

GASNETT_END_EXTERNC

#if defined(_INCLUDED_GASNET_H) || defined(_INCLUDED_GASNETEX_H)
#include "pinwire_trace.h"
#else
#define GASNETT_TRACE_ENABLED 0
#define GASNETT_TRACE_PRINTF _gasnett_trace_printf_noop
#define GASNETT_TRACE_PRINTF_FORCE _gasnett_trace_printf_noop
#define GASNETT_TRACE_GETMASK() ""
#define GASNETT_TRACE_SETMASK(mask) ((void)0)
#define GASNETT_TRACE_GET_TRACELOCAL() (0)
#define GASNETT_TRACE_SET_TRACELOCAL(is_on) ((void)0)
#define GASNETT_TRACE_SETSOURCELINE(file, line) ((void)0)
#define GASNETT_TRACE_GETSOURCELINE(file, line) ((void)0)
#define GASNETT_TRACE_FREEZESOURCELINE() ((void)0)
#define GASNETT_TRACE_UNFREEZESOURCELINE() ((void)0)
#define GASNETT_STATS_INIT(callback) 0
#define GASNETT_STATS_PRINTF _gasnett_trace_printf_noop
#define GASNETT_STATS_PRINTF_FORCE _gasnett_trace_printf_noop
#define GASNETT_STATS_GETMASK() ""
#define GASNETT_STATS_SETMASK(mask) ((void)0)
#define GASNETT_STATS_DUMP(is_reset) ((void)0)
#endif

#endif
