/* The program around the cases: lists them, runs the shared job, or one job of its own. */
#include "cases.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "../support/byte_pattern.h"

gasnet_node_t me, nodes;
gasnet_seginfo_t segments[kNodesMax];
int program_argc;
char **program_argv;

enum { kFailureBytes = 400, kRoundsBeforeFreeze = 20, kPollsOfRound = 100 };

static struct conform_case *first, **last = &first;
static _Atomic int failures;
static char first_failure[kFailureBytes];
static const char *why_not_here;
static int has_job_of_its_own;
static unsigned freezes;

void add_case(struct conform_case *entry) {
  *last = entry;
  last = &entry->next;
}

/* At once, as the body of a JOB may end the process itself, with whatever code; from any context.
 */
static void say_failure(void) {
  char line[kFailureBytes + 20];
  const int length = snprintf(line, sizeof line, "\n@job failed %s\n", first_failure);
  if (write(STDOUT_FILENO, line, (size_t)length) < 0) _exit(9);
}

void fail_at(const char *file, int line, const char *format, ...) {
  if (failures++ != 0) return;
  const int place = snprintf(first_failure, kFailureBytes, "%s:%d: ", file, line);
  va_list values;
  va_start(values, format);
  vsnprintf(first_failure + place, (size_t)(kFailureBytes - place), format, values);
  va_end(values);
  if (has_job_of_its_own) say_failure();
}

void not_here(const char *reason) { why_not_here = reason; }

/* "gasnet1/barrier.c", "matrix": barrier.matrix */
static const char *full_name(const struct conform_case *entry) {
  static char name[200];
  const char *slash = strrchr(entry->file, '/');
  const char *file = slash ? slash + 1 : entry->file;
  snprintf(name, sizeof name, "%.*s.%s", (int)strcspn(file, "."), file, entry->name);
  return name;
}

static struct conform_case *find(const char *name) {
  for (struct conform_case *entry = first; entry; entry = entry->next)
    if (!strcmp(full_name(entry), name)) return entry;
  fprintf(stderr, "there is no case %s; --list shows all\n", name);
  exit(2);
}

static int list(void) {
  for (const struct conform_case *entry = first; entry; entry = entry->next)
    printf("%s\t%s\t%s\t%s\t%d\t%s\n", full_name(entry), entry->ids, entry->is_job ? "job" : "case",
           entry->scope == kLocal ? "local" : "network", entry->code, entry->says);
  return 0;
}

void barrier(void) {
  gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS);
  EXPECT_EQ(gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS), GASNET_OK);
}

size_t part_bytes(void) { return kSegmentBytes / nodes / 4096 * 4096; }
unsigned char *part(gasnet_node_t owner) {
  return (unsigned char *)segments[owner].addr + me * part_bytes();
}

void fill(void *memory, size_t bytes, unsigned seed) { fill_pattern(memory, bytes, seed); }
int holds(const void *memory, size_t bytes, unsigned seed) {
  return holds_pattern(memory, bytes, seed);
}
int all_bytes_are(const void *memory, size_t bytes, int value) {
  for (size_t i = 0; i < bytes; ++i)
    if (((const unsigned char *)memory)[i] != value) return 0;
  return 1;
}

static const char *mark_path(const char *name) {
  static char path[300];
  const char *folder = getenv("CONFORM_DIR");
  if (!folder) {
    fprintf(stderr, "CONFORM_DIR must name an empty directory; run_cases.py makes one\n");
    abort();
  }
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}
void leave_mark(const char *name) {
  FILE *file = fopen(mark_path(name), "w");
  if (!file) abort();
  fclose(file);
}
int is_marked(const char *name) { return access(mark_path(name), F_OK) == 0; }

/* With a switch or a NIC between them nothing orders the barrier after what rank 0 began before it.
 * Rank 0 therefore gets a byte, which travels behind that, and polls for a while: frames may be
 * lost and sent again. The others get the core meanwhile. */
static void let_rank_1_serve(void) {
  char byte;
  if (segments[1].size != 0) gasnet_get(&byte, 1, part(1), 1);
  for (int round = 0; round < kRoundsBeforeFreeze; ++round) {
    for (int i = 0; i < kPollsOfRound; ++i) gasnet_AMPoll();
    usleep(500);
  }
}

int freeze_rank_1(void) {
  char served[40], frozen[40], thawed[40];
  snprintf(served, sizeof served, "served_%u", ++freezes);
  snprintf(frozen, sizeof frozen, "frozen_%u", freezes);
  snprintf(thawed, sizeof thawed, "thawed_%u", freezes);
  barrier();
  if (me == 0) {
    let_rank_1_serve();
    leave_mark(served);
    while (!is_marked(frozen)) gasnet_AMPoll();
    return 1;
  }
  if (me == 1) {
    while (!is_marked(served)) gasnet_AMPoll();
    leave_mark(frozen);
    while (!is_marked(thawed)) usleep(200);
  }
  return 0;
}
void thaw_rank_1(void) {
  char thawed[40];
  snprintf(thawed, sizeof thawed, "thawed_%u", freezes);
  leave_mark(thawed);
}

static int driver_is(const char *name) {
  const char *const driver = getenv("GASNET_DRIVER");
  if (!driver) {
    fprintf(stderr, "GASNET_DRIVER must name the driver; run_cases.py does so\n");
    abort();
  }
  return strcmp(driver, name) == 0;
}

const char *why_nothing_stays_under_way(void) {
  const char *const dispatch = getenv("GASNET_DISPATCH");
  if (nodes < 2) return "one rank has nobody to wait for";
  if (dispatch && strcmp(dispatch, "poll") != 0)
    return "the target's dispatcher serves, whatever its client does";
#ifdef GASNET_SEGMENT_EVERYTHING
  if (driver_is("shm")) return "over shm the kernel copies without the target";
#else
  if (driver_is("shm")) return "over shm segments are mapped: puts complete at once";
#endif
  if (driver_is("verbs")) return "over verbs the device transfers without the target";
  return NULL;
}

int device_pins_whole_segments(void) { return driver_is("verbs"); }

/* One line that run_cases.py reads. */
static void say_verdict(const struct conform_case *entry) {
  const char *verdict = failures ? "fail" : why_not_here ? "not_here" : "ok";
  printf("@case %u %s %s %s\n", (unsigned)me, verdict, full_name(entry),
         failures       ? first_failure
         : why_not_here ? why_not_here
                        : "");
  fflush(stdout);
  failures = 0;
  why_not_here = NULL;
}

static void run_cases(struct conform_case *from) {
  start_shared_job();
  barrier(); /* no message comes before its handler is known everywhere */
  for (struct conform_case *entry = from; entry; entry = entry->next) {
    if (entry->is_job) continue;
    entry->body();
    say_verdict(entry);
    barrier();
  }
  gasnet_exit(0);
}

static void run_job(const struct conform_case *entry) {
  has_job_of_its_own = 1;
  entry->body();
  if (why_not_here) printf("@job not_here %s\n", why_not_here);
  barrier();
  gasnet_exit(failures ? 1 : 0);
}

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "--list")) return list();
  program_argc = argc;
  program_argv = argv;
  if (argc >= 3 && !strcmp(argv[1], "--job")) run_job(find(argv[2]));
  run_cases(argc >= 3 && !strcmp(argv[1], "--from") ? find(argv[2]) : first);
  return 3;
}
