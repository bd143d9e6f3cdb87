/* EVERYTHING while memory comes and goes: threads map and unmap all the time; the main thread unmaps
 * memory that a peer has just reached, maps other memory at the same address, tells the peer, and
 * looks whether what it puts, gets and sends goes there and nowhere else. Memory that was mapped
 * before, as a source too. remap [ROUNDS] */
#include <pthread.h>
#include <sys/mman.h>

#include "job_test.h"

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

/* Fresh memory where the old was. */
static void remap(unsigned content) {
  munmap(place, kBytes);
  void *again = mmap(place, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (again != place) { /* another thread was faster: anywhere else then */
    again = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(again != MAP_FAILED);
    place = (unsigned char *)again;
  }
  memset(place, (int)content, kBytes);
}

/* What a peer asked for: puts there, gets it back, sends a Long there. */
static void serve(gasnet_node_t peer, unsigned char *source) {
  const size_t bytes = (size_t)asked_bytes;
  unsigned char *to = (unsigned char *)(uintptr_t)asked_at;
  const unsigned seed = (unsigned)asked_seed;
  fill(source, bytes, seed);
  gasnet_put_bulk(peer, to, source, bytes);
  memset(source, 0, bytes);
  gasnet_get_bulk(source, peer, to, bytes);
  EXPECT(holds(source, bytes, seed));
  fill(source, bytes, seed + 1);
  const unsigned before = told;
  gasnet_AMRequestLong1(peer, 201, source, bytes, to, (int)(seed + 1));
  GASNET_BLOCKUNTIL(told == before + 1);
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{201, (void (*)())on_long}, {202, (void (*)())on_done}, {203, (void (*)())on_ask}};
  static const size_t sizes[] = {1, 8, 4096, 65537, 300001, kBytes};
  const unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 30;
  pthread_t threads[kThreads];
  start_job(&argc, &argv, table, 3, 65536);
  if (nodes == 1) end_job("remap");
  place = (unsigned char *)mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (uintptr_t i = 0; i < kThreads; ++i) EXPECT_EQ(pthread_create(&threads[i], NULL, churn, (void *)(i + 1 + me)), 0);
  barrier();
  for (unsigned round = 0; round < rounds; ++round) {
    const gasnet_node_t to = (me + 1) % nodes, from = (me + nodes - 1) % nodes;
    const size_t bytes = sizes[round % (sizeof sizes / sizeof *sizes)];
    remap(round);
    const uint64_t at = (uintptr_t)place;
    gasnet_AMRequestShort4(to, 203, (int)at, (int)(at >> 32), (int)bytes, (int)(round + 7 * me));
    GASNET_BLOCKUNTIL(served == round + 1);
    /* The source is as fresh as the target. */
    unsigned char *source = (unsigned char *)mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(source != MAP_FAILED);
    serve(from, source);
    munmap(source, kBytes);
    barrier();
    EXPECT(holds(place, bytes, round + 7 * me + 1));
    for (size_t i = bytes; i < kBytes; ++i) EXPECT_EQ(place[i], (unsigned char)round);
    barrier();
  }
  __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  end_job("remap");
}
