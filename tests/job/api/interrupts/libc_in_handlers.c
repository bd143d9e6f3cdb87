/* Handlers and the client's own work call the same functions of the C library, which hold locks: malloc, free, fprintf,
 * dlopen and dl_iterate_phdr with callbacks. Rank 0 does nothing else, and no call of GASNet (PA-020, problem 3). For
 * GASNET_DISPATCH=interrupt and watchdog. libc_in_handlers [MESSAGES] */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "../job_test.h"

#ifdef OWN_MALLOC
/* An allocator of the program's own, in its own text, with a lock. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);

static int heap_is_in_use;
static void enter_heap(void) {
  while (__atomic_exchange_n(&heap_is_in_use, 1, __ATOMIC_ACQUIRE) != 0) sched_yield();
}
static void leave_heap(void) { __atomic_store_n(&heap_is_in_use, 0, __ATOMIC_RELEASE); }
void *malloc(size_t bytes) {
  enter_heap();
  void *memory = __libc_malloc(bytes);
  leave_heap();
  return memory;
}
void *calloc(size_t count, size_t bytes) {
  enter_heap();
  void *memory = __libc_calloc(count, bytes);
  leave_heap();
  return memory;
}
void *realloc(void *old, size_t bytes) {
  enter_heap();
  void *memory = __libc_realloc(old, bytes);
  leave_heap();
  return memory;
}
void free(void *memory) {
  enter_heap();
  __libc_free(memory);
  leave_heap();
}
#endif

enum { kMessages = 3000, kPatienceS = 90, kKept = 64, kThreads = 2 };

static int handled, answered, wanted;
static FILE *sink;
static pthread_t main_thread;
static int beside; /* handlers that ran in none of the client's threads */

/* The data of one thread: a handler has its own. */
struct work {
  unsigned turn;
  void *kept[kKept];
  unsigned visited;
};

static unsigned next(struct work *work) {
  work->turn = work->turn * 1664525u + 1013904223u;
  return work->turn >> 8;
}
static void exchange_memory(struct work *work, size_t bytes_max) {
  const unsigned number = next(work);
  void **kept = &work->kept[number % kKept];
  free(*kept);
  *kept = malloc(1 + number / kKept % bytes_max);
  EXPECT(*kept != NULL);
}
/* In the program's own text, but with the dynamic linker's lock: a handler that came here and loaded a library could wait
 * for ever for a thread that loads one, too. */
static __thread volatile int is_called_back;
static int in_callbacks; /* handlers that interrupted one */
static int visit(struct dl_phdr_info *info, size_t bytes, void *argument) {
  struct work *work = argument;
  (void)bytes;
  is_called_back = 1;
  work->visited += info->dlpi_phnum;
  exchange_memory(work, 300);
  for (volatile int i = 0; i < 3000; i = i + 1) {
  }
  is_called_back = 0;
  return 0;
}
static void load(void) {
  void *library = dlopen("libresolv.so.2", RTLD_NOW | RTLD_LOCAL);
  EXPECT(library != NULL);
  EXPECT(dlclose(library) == 0);
}
static void do_some(struct work *work) {
  const unsigned what = next(work) % 32;
  if (what == 0) {
    load();
  } else if (what < 6) {
    dl_iterate_phdr(visit, work);
  } else if (what < 12) {
    EXPECT(fprintf(sink, "%u %g\n", work->turn, 1.0 / (work->turn + 1)) > 0);
  } else {
    exchange_memory(work, what < 28 ? 300 : 200000);
  }
}

static void on_request(gasnet_token_t token) {
  static struct work works[kThreads + 1]; /* two handlers at most run at once: one for each lane */
  static int in_use[kThreads + 1];
  int mine = 0;
  if (is_called_back) __atomic_fetch_add(&in_callbacks, 1, __ATOMIC_RELAXED);
  while (__atomic_exchange_n(&in_use[mine], 1, __ATOMIC_ACQUIRE) != 0) mine = (mine + 1) % (kThreads + 1);
  for (int i = 0; i < 4; ++i) do_some(&works[mine]);
  __atomic_store_n(&in_use[mine], 0, __ATOMIC_RELEASE);
  if (!pthread_equal(pthread_self(), main_thread)) __atomic_fetch_add(&beside, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&handled, 1, __ATOMIC_RELEASE);
  gasnet_AMReplyShort0(token, 201);
}
static void on_answer(gasnet_token_t token) {
  (void)token;
  __atomic_fetch_add(&answered, 1, __ATOMIC_RELEASE);
}

static void *work_until_handled(void *unused) {
  struct work work = {.turn = 7};
  while (read_now(&handled) < wanted) do_some(&work);
  for (int i = 0; i < kKept; ++i) free(work.kept[i]);
  return unused;
}

static void *begin_and_work(void *unused) {
  gasnet_AMPoll(); /* from now on it may be interrupted */
  return work_until_handled(unused);
}

/* Such as a profiler's: it interrupts malloc, and computes itself. */
static void on_tick(int number) {
  (void)number;
  for (volatile int i = 0; i < 50000; i = i + 1) {
  }
}
static void tick_every_us(int us) {
  const struct sigaction tick = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
  const struct itimerval period = {{0, us}, {0, us}};
  EXPECT(sigaction(SIGPROF, &tick, NULL) == 0 && setitimer(ITIMER_PROF, &period, NULL) == 0);
}

/* Without the locks that may be why it is late. */
static void on_alarm(int number) {
  static const char sentence[] = "libc_in_handlers: no message was handled for too long\n";
  (void)number;
  if (write(2, sentence, sizeof sentence - 1) < 0) _exit(3);
  _exit(2);
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{200, (void (*)())on_request}, {201, (void (*)())on_answer}};
  start_job(&argc, &argv, table, 2, GASNET_PAGESIZE);
  EXPECT_EQ(nodes, 2);
  wanted = argc > 1 ? atoi(argv[1]) : kMessages;
  main_thread = pthread_self();
  sink = fopen("/dev/null", "w");
  EXPECT(sink != NULL);
  EXPECT(signal(SIGALRM, on_alarm) != SIG_ERR);
  barrier();
  if (me == 0) {
    if (argc <= 1) alarm(kPatienceS);
    tick_every_us(1000);
#ifdef GASNET_PAR
    pthread_t other;
    EXPECT(pthread_create(&other, NULL, begin_and_work, NULL) == 0);
    work_until_handled(NULL);
    EXPECT(pthread_join(other, NULL) == 0);
#else
    work_until_handled(NULL);
    (void)begin_and_work;
#endif
    tick_every_us(0);
    alarm(0);
    EXPECT_EQ(read_now(&in_callbacks), 0);
    printf("libc_in_handlers: %d of %d handlers ran beside the main thread; signals: %llu\n", read_now(&beside), wanted,
           (unsigned long long)statistic("dispatch.signals_handled"));
  } else {
    for (int sent = 0; sent < wanted;) {
      gasnet_AMRequestShort0(0, 200);
      ++sent;
      GASNET_BLOCKUNTIL(read_now(&answered) == sent);
    }
  }
  end_job("libc_in_handlers");
  return 1;
}
