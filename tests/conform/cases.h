/* Conformance cases: C99, the installed headers alone.
 *
 *   CASE(name, "C1-nnn C1-nnn") { ... }              runs on every rank of a job that all cases share
 *   JOB(name, "C1-nnn", kLocal, code, "says") { ... } runs in a job of its own, begins before gasnet_init or
 *                                                     gex_Client_Init
 *
 * Cases register themselves; run_cases.py starts the jobs and joins what the ranks say. A failed
 * expectation fails the case and lets it go on, so that the other ranks are not left waiting. */
#ifndef PINWIRE_CONFORM_CASES_H
#define PINWIRE_CONFORM_CASES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support/expect.h"
#include "gasnet.h"

/* The scope of a JOB: whether a driver has part in what it tests. run_cases.py runs local ones over one driver. */
enum conform_scope { kLocal, kNetwork };

struct conform_case {
  const char *file, *name, *ids;
  void (*body)(void);
  int is_job, scope, code; /* of a JOB: the expected exit code of the job */
  const char *says;        /* words that its output has, separated by '|' */
  struct conform_case *next;
};
void add_case(struct conform_case *entry);

#define CONFORM_CASE(name, ids, is_job, scope, code, says)                                          \
  static void case_##name(void);                                                                    \
  static struct conform_case entry_##name = {__FILE__, #name, ids, case_##name, is_job, scope,      \
                                             code,     says,  NULL};                                \
  __attribute__((constructor)) static void add_##name(void) { add_case(&entry_##name); }            \
  static void case_##name(void)
/* The result of a JOB with optimized libraries, and with those that check their clients. */
#ifdef GASNET_DEBUG
#define BY_BUILD(optimized, debug) debug
#else
#define BY_BUILD(optimized, debug) optimized
#endif
#define CASE(name, ids) CONFORM_CASE(name, ids, 0, kNetwork, 0, "")
#define JOB(name, ids, scope, code, says) CONFORM_CASE(name, ids, 1, scope, code, says)

/* Handlers may run in a thread of the library. A case therefore sets the variables that its handlers use before it sets
 * an _Atomic counter back, and they look at that counter first; they count when they are done. The messages in between
 * order all that, too, but by way of another process, which ThreadSanitizer does not see. */
#define EXPECT_FIRST(counter) EXPECT_EQ(counter, 0)

/* The first failure of a case is kept; from any thread, in handlers too. */
void fail_at(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The result of a call, or the value of a name, is of this very type. */
#define IS(what, type) \
  _Static_assert(__builtin_types_compatible_p(__typeof__(what), type), "the type of " #what)
/* This case asks nothing of this job (one rank, another mode): every rank must say so alike. The reason lies in
 * what the job is, not in what the library answers. It counts as a skipped case. */
#define NOT_HERE(reason)   \
  do {                     \
    not_here(reason);      \
    return;                \
  } while (0)
void not_here(const char *reason);

/* ---- what cases use ---------------------------------------------------------------------------- */

enum { kNodesMax = 16, kSegmentBytes = 8 << 20 };
extern gasnet_node_t me, nodes;
extern gasnet_seginfo_t segments[kNodesMax];
extern int program_argc;
extern char **program_argv;

void barrier(void);

/* Defined for the program by each specification's start.c: the job that cases share, with a segment of kSegmentBytes
 * and all handlers. */
void start_shared_job(void);
/* The part of each segment that this rank alone writes. */
size_t part_bytes(void);
unsigned char *part(gasnet_node_t owner);

/* Bytes that depend on all of their coordinates. */
void fill(void *memory, size_t bytes, unsigned seed);
int holds(const void *memory, size_t bytes, unsigned seed);
int all_bytes_are(const void *memory, size_t bytes, int value);

/* A word to other ranks that takes no GASNet call: files in a directory of this run. Each name is
 * used once. */
void leave_mark(const char *name);
int is_marked(const char *name);

/* Collective, with two ranks or more: rank 1 makes no GASNet call until rank 0 says thaw(). True on
 * rank 0, which may now see what is not complete; the others return when it is over. */
int freeze_rank_1(void);
void thaw_rank_1(void);

/* For cases about operations under way. Whether a put or get waits for its target follows from the job's
 * driver, kind of segment and dispatch mode, never from what the library answers: a library that claims
 * completion too early must fail these cases. */
#define SOMETHING_STAYS_UNDER_WAY()                             \
  do {                                                          \
    const char *const reason = why_nothing_stays_under_way();   \
    if (reason) NOT_HERE(reason);                               \
  } while (0)
const char *why_nothing_stays_under_way(void); /* NULL: something does */
int device_pins_whole_segments(void);

#endif
