/* gasnet_tools.h: GASNet's tools, specification 1.20: clocks, atomics, locks, settings, and what else
 * portable clients want of a system. Included by gasnet.h, or by itself in programs without a job.
 *
 * By itself: define GASNETT_THREAD_SAFE and link libgasnet_tools-par.a, or GASNETT_THREAD_SINGLE (the
 * default without -D_REENTRANT) and libgasnet_tools-seq.a; or GASNETT_LITE_MODE, which leaves out what
 * depends on threads and takes either library. The libraries of a job contain the tools: link only one. */
#ifndef _INCLUDED_GASNET_TOOLS_H
#define _INCLUDED_GASNET_TOOLS_H

#if defined(GASNETT_LITE_MODE) + defined(GASNETT_THREAD_SAFE) + defined(GASNETT_THREAD_SINGLE) > 1
#error "define at most one of GASNETT_THREAD_SAFE, GASNETT_THREAD_SINGLE, GASNETT_LITE_MODE"
#endif
#if defined(GASNETT_THREAD_SAFE) && (defined(GASNET_SEQ) || defined(GASNET_PARSYNC))
#error "GASNETT_THREAD_SAFE goes with GASNET_PAR, not with GASNET_SEQ or GASNET_PARSYNC"
#endif
#if defined(GASNETT_THREAD_SINGLE) && defined(GASNET_PAR)
#error "GASNETT_THREAD_SINGLE goes with GASNET_SEQ or GASNET_PARSYNC, not with GASNET_PAR"
#endif

#if defined(GASNETT_LITE_MODE)
#define PINWIRE_TOOLS_THREADS 0
#elif defined(GASNETT_THREAD_SAFE) || defined(GASNET_PAR) ||                                \
    (!defined(GASNETT_THREAD_SINGLE) && !defined(GASNET_SEQ) && !defined(GASNET_PARSYNC) && \
     (defined(_REENTRANT) || defined(_THREAD_SAFE) || defined(_PTHREAD_H)))
#undef GASNETT_THREAD_SAFE
#define GASNETT_THREAD_SAFE 1
#define PINWIRE_TOOLS_THREADS 1
#define GASNETT_THREAD_MODEL PAR
#elif defined(GASNET_PARSYNC) /* several threads, of which one at a time is inside GASNet */
#undef GASNETT_THREAD_SINGLE
#define GASNETT_THREAD_SINGLE 1
#define PINWIRE_TOOLS_THREADS 1
#define GASNETT_THREAD_MODEL PARSYNC
#else
#undef GASNETT_THREAD_SINGLE
#define GASNETT_THREAD_SINGLE 1
#define PINWIRE_TOOLS_THREADS 0
#define GASNETT_THREAD_MODEL SEQ
#endif

#include "pinwire_system_headers.h"

#include "pinwire_tools_compiler.h"

#define GASNETT_SPEC_VERSION_MAJOR GASNETI_TOOLS_SPEC_VERSION_MAJOR
#define GASNETT_SPEC_VERSION_MINOR GASNETI_TOOLS_SPEC_VERSION_MINOR
#define PINWIRE_TOOLS_SPEC_STRING _STRINGIFY(GASNETT_SPEC_VERSION_MAJOR) "." _STRINGIFY(GASNETT_SPEC_VERSION_MINOR)
#define GASNETT_RELEASE_VERSION_MAJOR GASNET_RELEASE_VERSION_MAJOR
#define GASNETT_RELEASE_VERSION_MINOR GASNET_RELEASE_VERSION_MINOR
#define GASNETT_RELEASE_VERSION_PATCH GASNET_RELEASE_VERSION_PATCH

#ifdef GASNETT_LITE_MODE
#define GASNETT_CONFIG_STRING "RELEASE=" PINWIRE_RELEASE_STRING ",SPEC=" PINWIRE_TOOLS_SPEC_STRING ",LITE,PTR=64bit," PINWIRE_DEBUG_STRING
#else
#define GASNETT_CONFIG_STRING                                                                         \
  "RELEASE=" PINWIRE_RELEASE_STRING ",SPEC=" PINWIRE_TOOLS_SPEC_STRING ",THREADMODEL=" _STRINGIFY(GASNETT_THREAD_MODEL) ",PTR=64bit," \
  PINWIRE_DEBUG_STRING
#endif
/* Words of that string, and how the library does what they name. */
#define GASNETT_PTR_CONFIG 64bit
#define GASNETT_DEBUG_CONFIG PINWIRE_DEBUG_WORD
#define GASNETT_TIMER_CONFIG timers_native
#define GASNETT_MEMBAR_CONFIG membars_native
#define GASNETT_ATOMIC_CONFIG atomics_native
#define GASNETT_ATOMIC32_CONFIG atomic32_native
#define GASNETT_ATOMIC64_CONFIG atomic64_native
#define GASNETT_CONFIGURE_ARGS GASNETI_CONFIGURE_ARGS
#define GASNETT_PLATFORM_COMPILER_IDSTR GASNETI_PLATFORM_COMPILER_IDSTR
#define GASNETT_PLATFORM_COMPILER_FAMILYID GASNETI_PLATFORM_COMPILER_FAMILYID
#define GASNETT_PLATFORM_COMPILER_ID GASNETI_PLATFORM_COMPILER_ID
#define GASNETT_PLATFORM_COMPILER_VERSION GASNETI_PLATFORM_COMPILER_VERSION
/* Threads of a process that may call GASNet. */
#if PINWIRE_TOOLS_THREADS
#define GASNETT_MAX_THREADS 256
#else
#define GASNETT_MAX_THREADS 1
#endif
#define GASNETI_MAX_THREADS GASNETT_MAX_THREADS /* by a name inside GASNet-EX that clients ask */

#include "pinwire_tools_environment.h"
#include "pinwire_tools_fence.h"
#include "pinwire_tools_heap.h"
#include "pinwire_tools_system.h"
#include "pinwire_tools_time.h"
#include "pinwire_tools_trace.h"
#ifndef GASNETT_LITE_MODE
#include "pinwire_tools_atomic.h"
#include "pinwire_tools_thread.h"

/* A program of several modes, builds or releases does not link: each library has one of these. */
GASNETT_BEGIN_EXTERNC
#if PINWIRE_TOOLS_THREADS
#define PINWIRE_TOOLS_CHECKED PINWIRE_PASTE4(pinwire_tools_compiled_for_, threads, _, PINWIRE_BUILD_TOKEN)
#else
#define PINWIRE_TOOLS_CHECKED PINWIRE_PASTE4(pinwire_tools_compiled_for_, one_thread, _, PINWIRE_BUILD_TOKEN)
#endif
extern const char PINWIRE_TOOLS_CHECKED;
#ifndef PINWIRE_LIBRARY
static const char *const pinwire_tools_of_unit[] PINWIRE_RETAIN = {
    &PINWIRE_TOOLS_CHECKED,
    "$GASNetToolsConfig: " GASNETT_CONFIG_STRING " $",
    "$GASNetToolsThreadModel: " _STRINGIFY(GASNETT_THREAD_MODEL) " $",
};
#endif
GASNETT_END_EXTERNC
#endif

#endif
