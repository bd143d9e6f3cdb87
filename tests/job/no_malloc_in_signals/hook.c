/* A preload library: ends a program whose library allocates or frees memory in the signal handler that
 * runs messages' handlers (PA-020, problem 3). The thread may be inside malloc, and hold its lock, where the
 * signal finds it: then it waits for itself, but once in a million signals. The hook finds every such call.
 *
 * It wraps the handler of every real-time signal, and of SIGURG, as the library takes one of those, and
 * counts for each thread how many of these handlers are on its stack.
 *
 * The library is linked into the program, so that an address does not tell its code from the client's. Hence
 * every call in signal context is the library's, but those between client_allocates_here(1) and
 * client_allocates_here(-1), by which the few handlers of the tests that allocate say so: a call that no
 * test has declared is a defect, so the hook may err, but never in the library's favour.
 *
 * under_hook.py loads it, and looks at the count of signals: a run in which none came has shown nothing. */
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hook.h"

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);
extern int __sigaction(int, const struct sigaction *, struct sigaction *);

/* In the program's own block of thread variables: any other is allocated at its first use. */
#define THREAD_VARIABLE static _Thread_local __attribute__((tls_model("initial-exec")))
THREAD_VARIABLE volatile int handlers_on_stack;
THREAD_VARIABLE volatile int clients_own;

enum { kFramesMax = 48 };
typedef void action(int, siginfo_t *, void *);
static _Atomic(action *) actions[NSIG];
static atomic_uint unshared_count;
static atomic_uint *signal_count = &unshared_count; /* all processes of the job count in one file */

__attribute__((constructor)) static void begin(void) {
  void *frames[kFramesMax];
  backtrace(frames, kFramesMax); /* the first call loads a library */
  const char *file = getenv("SIGNAL_COUNT_FILE");
  const int fd = file == NULL ? -1 : open(file, O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  void *shared = mmap(NULL, sizeof *signal_count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (shared != MAP_FAILED) signal_count = shared;
}

static void say(const char *text) {
  if (write(STDERR_FILENO, text, strlen(text)) < 0) return;
}

static void look(const char *function) {
  if (handlers_on_stack == 0 || clients_own != 0) return;
  handlers_on_stack = 0; /* what ends the process may allocate */
  say("no_malloc_in_signals: the library calls ");
  say(function);
  say(" in signal context (addr2line -Cfe PROGRAM OFFSET... names the lines):\n");
  void *frames[kFramesMax];
  backtrace_symbols_fd(frames, backtrace(frames, kFramesMax), STDERR_FILENO);
  struct sigaction as_usual;
  memset(&as_usual, 0, sizeof as_usual);
  as_usual.sa_handler = SIG_DFL;
  __sigaction(SIGABRT, &as_usual, NULL);
  abort();
}

void client_allocates(int by) { clients_own += by; }

static void run_action(int number, siginfo_t *info, void *interrupted) {
  action *const wrapped = atomic_load(&actions[number]);
  atomic_fetch_add(signal_count, 1);
  ++handlers_on_stack;
  wrapped(number, info, interrupted);
  --handlers_on_stack;
}

static int is_looked_at(int number) { return number == SIGURG || (number >= SIGRTMIN && number <= SIGRTMAX); }

/* A caller that asks gets the action that was set. */
int sigaction(int number, const struct sigaction *wanted, struct sigaction *before) {
  if (!is_looked_at(number)) return __sigaction(number, wanted, before);
  action *const wrapped = atomic_load(&actions[number]);
  struct sigaction mine;
  if (wanted != NULL) {
    mine = *wanted;
    if ((wanted->sa_flags & SA_SIGINFO) != 0 && wanted->sa_sigaction != run_action) {
      atomic_store(&actions[number], wanted->sa_sigaction);
      mine.sa_sigaction = run_action;
    }
  }
  const int result = __sigaction(number, wanted != NULL ? &mine : NULL, before);
  if (result == 0 && before != NULL && (before->sa_flags & SA_SIGINFO) != 0 && before->sa_sigaction == run_action)
    before->sa_sigaction = wrapped;
  return result;
}

/* operator new comes through malloc. */
void *malloc(size_t bytes) {
  look("malloc");
  return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
  look("calloc");
  return __libc_calloc(count, bytes);
}
void *realloc(void *old, size_t bytes) {
  look("realloc");
  return __libc_realloc(old, bytes);
}
void free(void *memory) {
  if (memory != NULL) look("free"); /* which takes no lock for nothing */
  __libc_free(memory);
}
void *memalign(size_t alignment, size_t bytes) {
  look("memalign");
  return __libc_memalign(alignment, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) {
  look("aligned_alloc");
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void **out, size_t alignment, size_t bytes) {
  look("posix_memalign");
  *out = __libc_memalign(alignment, bytes);
  return *out != NULL ? 0 : ENOMEM;
}
