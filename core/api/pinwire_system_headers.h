/* pinwire_system_headers.h: the system's headers that clients of GASNet-EX get with GASNet's, and do not include
 * themselves. Included by gasnet_tools.h only. */
#ifndef PINWIRE_SYSTEM_HEADERS_H
#define PINWIRE_SYSTEM_HEADERS_H

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#if PINWIRE_TOOLS_THREADS
#include <pthread.h>
#endif

/* sys/param.h has them in most C libraries. */
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

#endif
