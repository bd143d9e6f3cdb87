/* After attach the data plane allocates nothing, in any thread of the process: a malloc hook counts while every kind of
 * operation runs.
 *
 * Done before the count begins: each thread's first handle, which reserves the address space of that thread's
 * operations (attach did so for the main thread), and a first exchange with each peer. */
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../job_test.h"

/* The hook. operator new comes through malloc; memory from the system through mmap, brk aside, which
 * only malloc uses. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

enum { kFramesMax = 16 };
static atomic_int counting;
static atomic_ullong calls;
static void *first_frames[kFramesMax];
static int first_frame_count;

static void note(void) {
  if (!atomic_load(&counting)) return;
  if (atomic_fetch_add(&calls, 1) == 0) first_frame_count = backtrace(first_frames, kFramesMax);
}

void *malloc(size_t bytes) {
  note();
  return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes) {
  note();
  return __libc_calloc(count, bytes);
}
void *realloc(void *old, size_t bytes) {
  note();
  return __libc_realloc(old, bytes);
}
void free(void *memory) {
  if (memory != NULL) note();
  __libc_free(memory);
}
void *memalign(size_t alignment, size_t bytes) {
  note();
  return __libc_memalign(alignment, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void **out, size_t alignment, size_t bytes) {
  *out = memalign(alignment, bytes);
  return *out != NULL ? 0 : ENOMEM;
}
void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  note();
  return (void *)syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
}
/* mmap above is mmap64 where files have 64-bit offsets; the other name is for the rest. */
void *mmap_by_its_own_name(void *, size_t, int, int, int, off_t) __asm__("mmap");
void *mmap_by_its_own_name(void *at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  return mmap(at, bytes, protection, flags, fd, offset);
}

/* The program. */
enum { kThreads = 2, kPartBytes = 1 << 20, kMany = 65535 };
static atomic_uint replies[kThreads];
static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
static unsigned handled;

static unsigned char *part(gasnet_node_t owner, int thread) {
  return (unsigned char *)segments[owner].addr + ((size_t)me * kThreads + (size_t)thread) * kPartBytes;
}

static void answer(gasnet_token_t token, int thread, int category, size_t nbytes) {
  static unsigned char payload[512];
  gasnet_node_t from = 0;
  gasnet_AMGetMsgSource(token, &from);
  gasnet_hsl_lock(&lock);
  ++handled;
  gasnet_hsl_unlock(&lock);
  if (category == 0)
    gasnet_AMReplyShort1(token, 210, thread);
  else if (category == 1)
    gasnet_AMReplyMedium1(token, 211, payload, nbytes < sizeof payload ? nbytes : sizeof payload, thread);
  else
    gasnet_AMReplyLong1(token, 211, payload, sizeof payload, part(from, thread) + kPartBytes / 2, thread);
}
static void on_short(gasnet_token_t token, int thread, int category) { answer(token, thread, category, 8); }
static void on_payload(gasnet_token_t token, void *buf, size_t nbytes, int thread, int category) {
  (void)buf;
  answer(token, thread, category, nbytes);
}
static void on_reply(gasnet_token_t token, int thread) {
  (void)token;
  atomic_fetch_add(&replies[thread], 1);
}
static void on_reply_payload(gasnet_token_t token, void *buf, size_t nbytes, int thread) {
  (void)buf, (void)nbytes;
  on_reply(token, thread);
}

static unsigned char local[kThreads][kPartBytes];
static gasnet_handle_t handles[kThreads][kMany];

static void messages(gasnet_node_t to, int thread) {
  unsigned wanted = atomic_load(&replies[thread]);
  for (int i = 0; i < 300; i += 5) {
    const int category = i % 3;
    const size_t bytes = category == 2 ? 1 + (size_t)i * 97 : (size_t)i;
    gasnet_AMRequestShort2(to, 200, thread, category);
    gasnet_AMRequestMedium2(to, 201, local[thread], (size_t)i, thread, category);
    gasnet_AMRequestLong2(to, 201, local[thread], bytes, part(to, thread), thread, category);
    gasnet_AMRequestLongAsync2(to, 201, local[thread], bytes, part(to, thread), thread, category);
    wanted += 4;
    GASNET_BLOCKUNTIL(atomic_load(&replies[thread]) == wanted);
    gasnet_AMPoll();
  }
}

static void transfers(gasnet_node_t to, int thread) {
  static const size_t sizes[] = {0, 1, 8, 64, 257, 4096, 9001, 200000};
  unsigned char *mine = local[thread], *far = part(to, thread);
  for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
    const size_t bytes = sizes[s];
    gasnet_put(to, far, mine, bytes);
    gasnet_get(mine, to, far, bytes);
    gasnet_put_bulk(to, far, mine, bytes);
    gasnet_get_bulk(mine, to, far, bytes);
    gasnet_memset(to, far, 1, bytes);
    gasnet_handle_t some[4] = {gasnet_put_nb(to, far, mine, bytes), gasnet_put_nb_bulk(to, far, mine, bytes),
                               gasnet_get_nb(mine + 300000, to, far, bytes), gasnet_memset_nb(to, far, 2, bytes)};
    gasnet_wait_syncnb_some(some, 4);
    gasnet_wait_syncnb_all(some, 4);
    gasnet_put_nbi(to, far, mine, bytes);
    gasnet_put_nbi_bulk(to, far, mine, bytes);
    gasnet_get_nbi_bulk(mine + 300000, to, far, bytes);
    gasnet_memset_nbi(to, far, 3, bytes);
    while (gasnet_try_syncnbi_all() != GASNET_OK) {
    }
    gasnet_begin_nbi_accessregion();
    gasnet_put_nbi(to, far, mine, bytes);
    gasnet_get_nbi(mine + 300000, to, far, bytes);
    gasnet_wait_syncnb(gasnet_end_nbi_accessregion());
  }
  for (size_t bytes = 1; bytes <= 8; ++bytes) {
    gasnet_put_val(to, far, 42, bytes);
    gasnet_put_nbi_val(to, far, 43, bytes);
    gasnet_wait_syncnb(gasnet_put_nb_val(to, far, 44, bytes));
    gasnet_wait_syncnb_valget(gasnet_get_nb_val(to, far, bytes));
    (void)gasnet_get_val(to, far, bytes);
    gasnet_wait_syncnbi_all();
  }
}

/* Their lists were made at attach, as handlers may ask, too. */
static void neighbours(void) {
  gex_RankInfo_t *ranks;
  gex_Rank_t count, index;
  gex_System_QueryHostInfo(&ranks, &count, &index);
  EXPECT(count >= 1 && ranks[index].gex_jobrank == me);
  gex_System_QueryNbrhdInfo(&ranks, &count, &index);
  EXPECT(count >= 1 && ranks[index].gex_jobrank == me);
}

static void many_in_flight(gasnet_node_t to, int thread) {
  for (int i = 0; i < kMany; ++i)
    handles[thread][i] = gasnet_put_nb_bulk(to, part(to, thread) + 4 * i, local[thread] + 4 * i, 4);
  gasnet_wait_syncnb_all(handles[thread], kMany);
  for (int i = 0; i < kMany; ++i) gasnet_get_nbi_bulk(local[thread] + 4 * i, to, part(to, thread) + 4 * i, 4);
  gasnet_wait_syncnbi_all();
}

static void everything(int thread) {
  neighbours();
  for (gasnet_node_t k = 0; k < nodes; ++k) {
    const gasnet_node_t to = (me + k) % nodes;
    messages(to, thread);
    transfers(to, thread);
    if (thread == 0) many_in_flight(to, thread);
  }
}

static void contact(int thread) {
  gasnet_begin_nbi_accessregion();
  gasnet_wait_syncnb(gasnet_end_nbi_accessregion());
  const unsigned wanted = atomic_load(&replies[thread]) + nodes;
  for (gasnet_node_t to = 0; to < nodes; ++to) {
    gasnet_AMRequestShort2(to, 200, thread, 0);
    gasnet_wait_syncnb(gasnet_put_nb_bulk(to, part(to, thread), local[thread], 64));
  }
  GASNET_BLOCKUNTIL(atomic_load(&replies[thread]) == wanted);
}

#ifdef GASNET_PAR
enum { kRunning = kThreads };
#else
enum { kRunning = 1 };
#endif
static atomic_int ready, go, done;

static void *work(void *argument) {
  const int thread = (int)(size_t)argument;
  contact(thread);
  atomic_fetch_add(&ready, 1);
  while (!atomic_load(&go)) gasnet_AMPoll();
  everything(thread);
  atomic_fetch_add(&done, 1);
  while (atomic_load(&go) == 1) gasnet_AMPoll();
  return NULL;
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{200, (void (*)())on_short},
                                   {201, (void (*)())on_payload},
                                   {210, (void (*)())on_reply},
                                   {211, (void (*)())on_reply_payload}};
  void *warm[1];
  (void)backtrace(warm, 1); /* its first call loads a library */
  start_job(&argc, &argv, table, 4, 64 << 20);
  EXPECT(segments[me].size >= (size_t)nodes * kThreads * kPartBytes);
  pthread_t threads[kThreads];
  for (size_t t = 1; t < kRunning; ++t) EXPECT_EQ(pthread_create(&threads[t], NULL, work, (void *)t), 0);
  contact(0);
  GASNET_BLOCKUNTIL(atomic_load(&ready) == kRunning - 1);
  barrier();

  atomic_store(&counting, 1);
  atomic_store(&go, 1);
  everything(0);
  GASNET_BLOCKUNTIL(atomic_load(&done) == kRunning - 1);
  for (int i = 0; i < 100; ++i) barrier();
  atomic_store(&counting, 0);

  atomic_store(&go, 2);
  for (size_t t = 1; t < kRunning; ++t) EXPECT_EQ(pthread_join(threads[t], NULL), 0);
  if (atomic_load(&calls) != 0) {
    fprintf(stderr, "the first of %llu allocations:\n", (unsigned long long)atomic_load(&calls));
    backtrace_symbols_fd(first_frames, first_frame_count, 2);
  }
  EXPECT_EQ(atomic_load(&calls), 0);
  /* The hook does count. */
  atomic_store(&counting, 1);
  void *volatile memory = malloc(1);
  free(memory);
  atomic_store(&counting, 0);
  EXPECT_EQ(atomic_load(&calls), 2);
  end_job("no_allocation");
}
