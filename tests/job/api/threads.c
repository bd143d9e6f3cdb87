/* PAR: several threads of each rank send, put, get and wait at once; counts and data must be exact:
 * C1-013, C1-164, C1-188...206, C1-244. */
#include <pthread.h>

#include "job_test.h"

enum { kThreads = 3, kRounds = 1500 };

static gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
static unsigned long long requests_seen; /* under the lock */
static unsigned replies_seen[kThreads];

static void on_request(gasnet_token_t token, void *buf, size_t nbytes, int thread, int number) {
  EXPECT(holds(buf, nbytes, (unsigned)number));
  gasnet_hsl_lock(&lock);
  ++requests_seen;
  gasnet_hsl_unlock(&lock);
  gasnet_AMReplyShort1(token, 201, thread);
}
/* Replies to one thread may be handled by several at once. */
static void on_reply(gasnet_token_t token, int thread) {
  (void)token;
  __atomic_fetch_add(&replies_seen[thread], 1, __ATOMIC_RELEASE);
}

static unsigned replies_of(int thread) {
  return __atomic_load_n(&replies_seen[thread], __ATOMIC_ACQUIRE);
}

static unsigned char *place(gasnet_node_t owner, int thread) {
  return (unsigned char *)segments[owner].addr + (me * kThreads + (unsigned)thread) * 4096;
}

static void *work(void *argument) {
  const int thread = (int)(size_t)argument;
  unsigned char payload[200], back[200];
  for (int i = 0; i < kRounds; ++i) {
    /* Each fourth round, which looks at the data, has another rank in its turn, whatever their number. */
    const gasnet_node_t to = (me + (unsigned)(i + i / 4)) % nodes;
    fill(payload, sizeof payload, (unsigned)i);
    gasnet_AMRequestMedium2(to, 200, payload, (size_t)i % sizeof payload, thread, i);
    /* Puts under way together arrive in any order, so each has its own place. */
    gasnet_put_nbi(to, place(to, thread) + i % 4 * 256, payload, sizeof payload);
    if (i % 4 == 0) {
      gasnet_handle_t handle = gasnet_put_nb(to, place(to, thread) + 1024, payload, sizeof payload);
      gasnet_wait_syncnbi_puts();
      gasnet_wait_syncnb(handle);
      gasnet_get(back, to, place(to, thread), sizeof back);
      EXPECT(memcmp(back, payload, sizeof back) == 0);
      gasnet_get_nbi(back, to, place(to, thread) + 1024, sizeof back);
      gasnet_wait_syncnbi_all();
      EXPECT(memcmp(back, payload, sizeof back) == 0);
    }
    if (i % 16 == 0) GASNET_BLOCKUNTIL(replies_of(thread) == (unsigned)i + 1);
  }
  gasnet_wait_syncnbi_all();
  GASNET_BLOCKUNTIL(replies_of(thread) == kRounds);
  return NULL;
}

int main(int argc, char **argv) {
  gasnet_handlerentry_t table[] = {{200, (void (*)())on_request}, {201, (void (*)())on_reply}};
  start_job(&argc, &argv, table, 2, 1 << 20);
  pthread_t threads[kThreads];
  for (size_t t = 0; t < kThreads; ++t) EXPECT_EQ(pthread_create(&threads[t], NULL, work, (void *)t), 0);
  for (size_t t = 0; t < kThreads; ++t) EXPECT_EQ(pthread_join(threads[t], NULL), 0);
  barrier();
  gasnet_hsl_lock(&lock);
  EXPECT_EQ(requests_seen, kThreads * kRounds);
  gasnet_hsl_unlock(&lock);
  end_job("threads");
}
