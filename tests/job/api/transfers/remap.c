/* EVERYTHING while memory comes and goes: threads map and unmap all the time; the main thread renews
 * memory that a peer has just reached, at the same address and in every way that there is, tells the
 * peer, and looks whether what it puts, gets and sends goes there and nowhere else: several times
 * over, so that what is remembered of the memory is used. Memory that was mapped before, as a source
 * too. remap [ROUNDS] */
#include <pthread.h>
#include <sys/mman.h>

#include "../job_test.h"

enum { kBytes = 1 << 20, kThreads = 2 };

static int is_over;
static volatile unsigned served, told;
static unsigned char *place; /* mine */

static void *churn(void *seed) {
  unsigned state = (unsigned)(uintptr_t)seed;
  while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) { /* pairs with nothing: it only ends the loop */
    state = state * 1664525u + 1013904223u;
    const size_t bytes = ((state >> 16) % 64 + 1) * 16384;
    unsigned char *memory = (unsigned char *)mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) continue;
    memory[0] = memory[bytes - 1] = 1;
    munmap(memory, bytes);
    void *heap = malloc(bytes);
    memset(heap, 2, 64);
    free(heap);
  }
  return NULL;
}

static void on_done(gasnet_token_t token) {
  (void)token;
  ++told;
}
static void on_long(gasnet_token_t token, void *payload, size_t bytes, int seed) {
  if (!holds(payload, bytes, (unsigned)seed)) fail_at(__FILE__, __LINE__, "a Long of %zu bytes went elsewhere", bytes);
  gasnet_AMReplyShort0(token, 202);
}
static volatile uint64_t asked_at;
static volatile int asked_bytes, asked_seed;
static void on_ask(gasnet_token_t token, int low, int high, int bytes, int seed) {
  (void)token;
  asked_bytes = bytes;
  asked_seed = seed;
  asked_at = (uint32_t)low | (uint64_t)(uint32_t)high << 32;
  ++served;
}

enum { kPrivate = MAP_PRIVATE | MAP_ANONYMOUS, kReadWrite = PROT_READ | PROT_WRITE, kTries = 1000 };

static void *unmap(void *base) {
  munmap(base, kBytes);
  return NULL;
}
/* Where the old was; anywhere else if another thread was faster. */
static unsigned char *map_again(unsigned char *base, unsigned tries) {
  void *again = MAP_FAILED;
  while (again != base && tries-- != 0) again = mmap(base, kBytes, kReadWrite, kPrivate | MAP_FIXED_NOREPLACE, -1, 0);
  if (again != base) again = mmap(NULL, kBytes, kReadWrite, kPrivate, -1, 0);
  EXPECT(again != MAP_FAILED);
  return (unsigned char *)again;
}

/* Fresh memory where the old was. */
static unsigned char *renew(unsigned char *base, unsigned way) {
  pthread_t other;
  void *moved;
  switch (way % 5) {
    case 0: /* by this thread */
      munmap(base, kBytes);
      return map_again(base, 1);
    case 1: /* by another, which may not have returned from it when the address is used again */
      EXPECT_EQ(pthread_create(&other, NULL, unmap, base), 0);
      base = map_again(base, kTries);
      pthread_join(other, NULL);
      return base;
    case 2: /* mapped over */
      EXPECT(mmap(base, kBytes, kReadWrite, kPrivate | MAP_FIXED, -1, 0) == base);
      return base;
    case 3: /* discarded */
      EXPECT_EQ(madvise(base, kBytes, MADV_DONTNEED), 0);
      return base;
    default: /* moved away */
      moved = mremap(base, kBytes, 2 * kBytes, MREMAP_MAYMOVE);
      EXPECT(moved != MAP_FAILED);
      base = moved == base ? base : map_again(base, 1);
      munmap(moved == base ? base + kBytes : (unsigned char *)moved, moved == base ? kBytes : 2 * kBytes);
      return base;
  }
}

/* The wish of a peer: puts there, gets it back, sends a Long there. */
static void serve(gasnet_node_t peer, unsigned char *source) {
  const size_t bytes = (size_t)asked_bytes;
  unsigned char *to = (unsigned char *)(uintptr_t)asked_at;
  const unsigned seed = (unsigned)asked_seed;
  for (unsigned again = 0; again < 2; ++again) {
    fill(source, bytes, seed + 100 * again);
    gasnet_put_bulk(peer, to, source, bytes);
    memset(source, 0, bytes);
    gasnet_get_bulk(source, peer, to, bytes);
    EXPECT(holds(source, bytes, seed + 100 * again));
  }
  fill(source, bytes, seed + 1);
  const unsigned before = told;
  gasnet_AMRequestLong1(peer, 201, source, bytes, to, (int)(seed + 1));
  GASNET_BLOCKUNTIL(told == before + 1);
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{201, (void (*)())on_long}, {202, (void (*)())on_done}, {203, (void (*)())on_ask}};
  static const size_t sizes[] = {1, kBytes, 4096, 300001, 65537, kBytes};
  const unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 15; /* each way with a large size */
  pthread_t threads[kThreads];
  start_job(&argc, &argv, table, 3, 65536);
  if (nodes == 1) end_job("remap");
  place = (unsigned char *)mmap(NULL, kBytes, kReadWrite, kPrivate, -1, 0);
  unsigned char *source = (unsigned char *)mmap(NULL, kBytes, kReadWrite, kPrivate, -1, 0);
  EXPECT(place != MAP_FAILED && source != MAP_FAILED);
  for (uintptr_t i = 0; i < kThreads; ++i) EXPECT_EQ(pthread_create(&threads[i], NULL, churn, (void *)(i + 1 + me)), 0);
  barrier();
  for (unsigned round = 0; round < rounds; ++round) {
    const gasnet_node_t to = (me + 1) % nodes, from = (me + nodes - 1) % nodes;
    const size_t bytes = sizes[round % (sizeof sizes / sizeof *sizes)];
    place = renew(place, round);
    memset(place, (int)round, kBytes);
    const uint64_t at = (uintptr_t)place;
    gasnet_AMRequestShort4(to, 203, (int)at, (int)(at >> 32), (int)bytes, (int)(round + 7 * me));
    GASNET_BLOCKUNTIL(served == round + 1);
    /* The source is as fresh as the target. */
    source = renew(source, round / 2);
    serve(from, source);
    barrier();
    EXPECT(holds(place, bytes, round + 7 * me + 1));
    for (size_t i = bytes; i < kBytes; ++i) EXPECT_EQ(place[i], (unsigned char)round);
    barrier();
  }
  __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  end_job("remap");
}
